use super::{RandomError, Stream};

/// A discrete distribution over 0 .. n - 1, from weights: a variate costs the same however many
/// numbers there are.
///
/// The alias method (Walker, ACM TOMS 3(3), 1977; the table as Vose makes it, IEEE TSE 17(9),
/// 1991): n slots of equal probability; each is shared by its own number and one other.
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
/// In WGSL, which cannot pass a storage buffer to a function, a variate is made in two steps around
/// a look into the table, here in a model's `data`, where [`words`](Self::words) were put first:
///
/// ```wgsl
/// let slot = alias_slot(4u);
/// let route = alias_pick(slot, data[2u * slot], data[2u * slot + 1u]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasTable {
    /// Threshold and other number, by slot.
    slots: Vec<[u32; 2]>,
}

impl AliasTable {
    /// The table of the numbers 0 .. n - 1, the probability of each in proportion to its weight.
    ///
    /// Probabilities are whole multiples of 2^-32 / n and add up to 1 exactly: each is less than
    /// 2^-32 / n off, besides the fraction of 2^-52 that the division by the largest weight may be
    /// off. A weight of zero has the probability zero, a positive one that is too small may have
    /// it. [`probability`](Self::probability) tells. All is integer arithmetic after one division
    /// per weight, so all hosts make the same table.
    ///
    /// # Errors
    /// [`RandomError::Weights`] for none, or more than 2^31; [`RandomError::Weight`] for one that
    /// is negative or not finite; [`RandomError::NoWeight`] where all are zero.
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
        // A slot has the mass 2^32, all have `mass`. Below 2^63 * 2^63.
        let mass = (count as u128) << 32;
        let mut masses: Vec<u64> = shares.iter().map(|share| (share * mass / sum) as u64).collect();
        // What rounding down left goes to the largest remainders, one each; a zero has none.
        let given: u128 = masses.iter().map(|&mass| u128::from(mass)).sum();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&index| (std::cmp::Reverse(shares[index] * mass % sum), index));
        for &index in order.iter().take((mass - given) as usize) {
            masses[index] += 1;
        }
        Ok(Self { slots: Self::slots(masses) })
    }

    /// Shares the slots out: each number that has less than a slot is topped up by one that has
    /// more.
    #[expect(clippy::cast_possible_truncation, reason = "numbers are below 2^31, thresholds below 2^32")]
    fn slots(mut masses: Vec<u64>) -> Vec<[u32; 2]> {
        const SLOT: u64 = 1 << 32;
        // Who keeps a whole slot is its own other number, so the threshold does not matter.
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

    /// How many numbers there are: what `alias_slot` takes.
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^31")]
    pub fn count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// The table as kernels read it: two words per slot, the threshold and the other number.
    pub fn words(&self) -> &[u32] {
        self.slots.as_flattened()
    }

    /// The probability of `number`, as the table has it; 0 beyond the last. Looks through the whole
    /// table.
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
    /// [`below`](Self::below) finds the slot and another word the number: so it uses two draws, and
    /// with a probability below n / 2^32 more. [`AliasTable::new`] tells how exact the
    /// probabilities are. WGSL: `alias_slot`, then `alias_pick`.
    pub fn alias(&mut self, table: &AliasTable) -> u32 {
        let slot = self.below(table.count());
        let [threshold, other] = table.slots[slot as usize];
        if self.draw() < threshold { slot } else { other }
    }
}
