use super::{RandomError, Stream};

/// A discrete distribution over 0 .. n - 1, from weights: a variate costs the same for every n.
///
/// The alias method (Walker, ACM TOMS 3(3), 1977; the table after Vose, IEEE TSE 17(9), 1991) has n
/// slots of equal probability. Each slot is shared by its own number and one other.
///
/// ```
/// use eventhorizon::random::{AliasTable, Stream};
///
/// let routes = AliasTable::new(&[0.5, 0.0, 0.2, 0.3])?;
/// let mut stream = Stream::new(42, 7, 0);
/// assert_ne!(stream.alias(&routes), 1);
/// # Ok::<(), eventhorizon::random::RandomError>(())
/// ```
///
/// WGSL cannot pass a storage buffer to a function. So a variate takes two steps, with a read of
/// the table between them. Here the table is in a model's `data`, which starts with
/// [`words`](Self::words):
///
/// ```wgsl
/// let slot = alias_slot(4u);
/// let route = alias_pick(slot, data[2u * slot], data[2u * slot + 1u]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasTable {
    /// Threshold and other number of each slot.
    slots: Vec<[u32; 2]>,
}

impl AliasTable {
    /// The table of the numbers 0 .. n - 1. The probability of each is proportional to its weight.
    ///
    /// Probabilities are whole multiples of 2^-32 / n and add up to 1 exactly. Each is off by less
    /// than 2^-32 / n, and by a fraction of at most 2^-52 from the division by the largest weight.
    /// A weight of zero has the probability zero; a very small positive weight may have it too, see
    /// [`probability`](Self::probability). After one division per weight all arithmetic is integer,
    /// so all hosts build the same table.
    ///
    /// # Errors
    /// [`RandomError::Weights`] for no weights or more than 2^31; [`RandomError::Weight`] for one
    /// that is negative or not finite; [`RandomError::NoWeight`] if all are zero.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "shares are in 0 ..= 2^63; the rest is below 2^32 * n and bounded where it is cut"
    )]
    pub fn new(weights: &[f64]) -> Result<Self, RandomError> {
        let count = weights.len();
        if count == 0 || count > 1 << 31 {
            return Err(RandomError::Weights { count });
        }
        if let Some(index) = weights.iter().position(|weight| !(0.0..f64::INFINITY).contains(weight)) {
            return Err(RandomError::Weight { index, weight: weights[index] });
        }
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return Err(RandomError::NoWeight);
        }
        let shares: Vec<u128> =
            weights.iter().map(|weight| (weight / largest * 2f64.powi(63)) as u128).collect();
        let sum: u128 = shares.iter().sum();
        // A slot has the mass 2^32, all slots have `mass`. The products are below 2^63 * 2^63.
        let mass = (count as u128) << 32;
        let mut masses: Vec<u64> = shares.iter().map(|share| (share * mass / sum) as u64).collect();
        // The rest after rounding down goes to the largest remainders, one each; a zero weight has
        // no remainder.
        let given: u128 = masses.iter().map(|&mass| u128::from(mass)).sum();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&index| (std::cmp::Reverse(shares[index] * mass % sum), index));
        for &index in order.iter().take((mass - given) as usize) {
            masses[index] += 1;
        }
        Ok(Self { slots: Self::slots(masses) })
    }

    /// Fills the slots: a number with more than a slot tops up each number with less.
    #[expect(clippy::cast_possible_truncation, reason = "numbers are below 2^31, thresholds below 2^32")]
    fn slots(mut masses: Vec<u64>) -> Vec<[u32; 2]> {
        const SLOT: u64 = 1 << 32;
        // A number with a whole slot is its own other number, so its threshold does not matter.
        let mut slots: Vec<[u32; 2]> = (0..masses.len()).map(|number| [u32::MAX, number as u32]).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..masses.len())
            .filter(|&number| masses[number] != SLOT)
            .partition(|&number| masses[number] < SLOT);
        while let (Some(poor), Some(&rich)) = (small.pop(), large.last()) {
            slots[poor] = [masses[poor] as u32, rich as u32];
            masses[rich] -= SLOT - masses[poor];
            if masses[rich] <= SLOT {
                large.pop();
                if masses[rich] < SLOT {
                    small.push(rich);
                }
            }
        }
        slots
    }

    /// How many numbers there are: the argument of `alias_slot`.
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^31")]
    pub fn count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// The table as kernels read it: two words per slot, the threshold and the other number.
    pub fn words(&self) -> &[u32] {
        self.slots.as_flattened()
    }

    /// The probability of `number` in the table; 0 beyond the last. Scans the whole table.
    #[expect(clippy::cast_precision_loss, reason = "to an f64")]
    pub fn probability(&self, number: u32) -> f64 {
        let mass = self.slots.iter().zip(0..).map(|(&[threshold, other], slot)| {
            let own = if slot == number { u64::from(threshold) } else { 0 };
            own + if other == number { (1 << 32) - u64::from(threshold) } else { 0 }
        });
        mass.map(u128::from).sum::<u128>() as f64 / ((self.slots.len() as u128) << 32) as f64
    }
}

impl Stream {
    /// A number of the table.
    ///
    /// [`below`](Self::below) draws the slot, and another word selects the number. So it uses two
    /// draws, and more with a probability below n / 2^32. [`AliasTable::new`] states the accuracy
    /// of the probabilities. WGSL: `alias_slot`, then `alias_pick`.
    pub fn alias(&mut self, table: &AliasTable) -> u32 {
        let slot = self.below(table.count());
        let [threshold, other] = table.slots[slot as usize];
        if self.draw() < threshold { slot } else { other }
    }
}
