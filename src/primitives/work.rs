//! What the primitives share: recipes of their kernels, and the dispatches that a plan is made of.

use bytemuck::{Pod, Zeroable};

use super::{Count, PrimitiveError};
use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Plan, Recipe};
use crate::shaders;

/// Values of WGSL overrides.
pub(super) type Constants = Vec<(&'static str, f64)>;

/// Entry point `entry` of these files of `shaders/primitives/`.
pub(super) fn recipe(entry: &'static str, files: &[&str], constants: &[Constants]) -> Recipe {
    let sources: Vec<_> =
        files.iter().map(|file| shaders::file(&format!("primitives/{file}.wgsl"))).collect();
    Recipe::new(format!("primitives {}", files.join(" ")), entry, sources).with(constants.concat())
}

/// The kernel of a [`recipe`] of this module.
pub(super) fn kernel(recipe: &Recipe, gpu: &Gpu) -> Result<Kernel, GpuError> {
    // SAFETY: no kernel of this module holds WGSL of a user's. For each of them, whatever the buffers hold:
    //
    // Divisors. Constants above 0 (`GROUP_SIZE`, `ITEMS`, so tiles too), the dispatch's number of workgroups, and
    // `params.groups`, `params.chunk` and `chunks()`, how many of the second the first makes: `Params::new` takes the first from `Tuning::workgroups_for`, `sort::chunk` gives the
    // second, both at least 1, and so is the third.
    // Uniforms belong to the plan; no kernel writes them.
    //
    // Elements. `length()` reads count[params.count_index], an index that `Count` compared with the buffer's length, and gives
    // at most `params.maximum`. That is the bound that `bind` compared with the length of each of the caller's buffers, and
    // at most the `max` that scratch buffers are allotted for. All dispatches of a plan find the same count: wgpu refuses a
    // dispatch that reads it and writes its buffer, and of the kernels that do not read it only `spine` and `finish` write to a
    // buffer of the caller's. Nothing reads the count after `finish`; that `spine` does not write it, `Compact` checks, and of
    // `Scan` the types of the buffers say it. Elements are reached at indices below it (of a sort, plus the
    // array's start: `arrays` times the bound is compared). Vectors of four reach beyond it by at most 3 words, and the
    // size of every `Buffer` is a multiple of 16 bytes.
    //
    // Partial results. `partials` has one for each of `workgroups_for(max)`, which does not fall as the length grows, and no
    // kernel with that buffer has more workgroups. `counts` has `sort::rows` rows of 256 words for each array: for each share, each chunk of shares (of `sort::LEAST_CHUNK` at the least,
    // but for the last) and, where there are more than FEW_CHUNKS, the array, indexed by digit (masked to 8 bits at most: `Params::digit_mask`). Whoever reads a row comes after who wrote
    // it: histogram, `digits`, and `begins`, which `sort` dispatches where FEW_CHUNKS, the same number in both languages (a test compares them), says so. Single results go to
    // `params.destination`, which `bind` compared with the buffer's length.
    //
    // Places that are computed. In sorts, histogram and scatter count the same keys: `keys` is written by no kernel between
    // them, and no other dispatch can come between those of a plan. So the places of a sort are a permutation of
    // those below n. What `pick` writes goes likewise below the number of flags that `upsweep` counted.
    //
    // Workgroup memory. By lane (below GROUP_SIZE), item (below ITEMS), digit (below 256) and subgroup; words that are exchanged by their ranks, a permutation of the tile's places, below or from
    // AT_ONCE * GROUP_SIZE on, of which the pool has as many words and the tile at most twice as many. Subgroups rely
    // on subgroups that are whole, so that they are GROUP_SIZE / size in number, and on a size of 4 at least, which WebGPU
    // promises; files that use subgroups are taken only where a kernel saw it so (`Subgroups`). Where the adapter has several
    // sizes, another kernel may have more subgroups than that one: a ranking with counters asks how many (`VARYING`).
    //
    // Loops. Each counts up to a bound that is fixed before it: ITEMS, VECTORS, AT_ONCE, 256 digits, params.groups, params.chunk, chunks(), the turns of a tile (three at the most), or
    // the tiles of a share, of which there are few enough (`Tuning::workgroups_for`) for drivers that cut loops short.
    unsafe { recipe.trusted(gpu) }
}

/// The dispatches of a primitive, with what is common to them.
pub(super) struct Work<'a> {
    gpu: &'a Gpu,
    count: &'a Count,
    params: Buffer<Params>,
    plan: Plan,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        gpu: &'a Gpu,
        label: &'static str,
        count: &'a Count,
        params: Params,
    ) -> Result<Self, GpuError> {
        let params = uniform(gpu, count, params)?;
        Ok(Self { gpu, count, params, plan: Plan::new(label) })
    }

    /// Other parameters for the dispatches from here on.
    pub(super) fn set(&mut self, params: Params) -> Result<(), GpuError> {
        self.params = uniform(self.gpu, self.count, params)?;
        Ok(())
    }

    /// Adds a dispatch.
    pub(super) fn dispatch(
        &mut self,
        kernel: &Kernel,
        workgroups: u32,
        buffers: &[(&str, &wgpu::Buffer)],
    ) -> Result<(), PrimitiveError> {
        let mut all = vec![
            ("params", self.params.binding()),
            ("count", self.count.buffer.binding()),
            ("status", self.count.status.buffer().binding()),
        ];
        all.extend(buffers.iter().map(|(name, buffer)| (*name, buffer.as_entire_binding())));
        Ok(self.plan.dispatch(self.gpu, kernel, workgroups, &all)?)
    }

    pub(super) fn plan(self) -> Plan {
        self.plan
    }
}

fn uniform(gpu: &Gpu, count: &Count, params: Params) -> Result<Buffer<Params>, GpuError> {
    Buffer::uniform(gpu, "primitive", &Params { count_index: count.index, ..params })
}

/// `Params` of `shaders/primitives/params.wgsl`, where the fields are explained.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct Params {
    /// [`Work`] fills it in.
    pub(super) count_index: u32,
    pub(super) maximum: u32,
    pub(super) groups: u32,
    pub(super) destination: u32,
    pub(super) inclusive: u32,
    pub(super) first_bit: u32,
    pub(super) digit_mask: u32,
    pub(super) array_length: u32,
    pub(super) chunk: u32,
}

impl Params {
    /// For up to `maximum` elements, cut into shares for `groups` workgroups: at least 1, because kernels divide by it.
    pub(super) fn new(maximum: u32, groups: u32) -> Self {
        assert!(groups > 0, "kernels divide by the number of workgroups");
        Self { maximum, groups, chunk: 1, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{Program, assert_same_layout};

    #[test]
    fn params_lie_as_in_wgsl() {
        let program = Program::link("t", &[shaders::file("primitives/params.wgsl")]).unwrap();
        assert_same_layout!(
            program,
            Params {
                count_index,
                maximum,
                groups,
                destination,
                inclusive,
                first_bit,
                digit_mask,
                array_length,
                chunk
            }
        );
    }
}
