// A time drawn from a table: values, lines and curves with their probabilities. The reference
// implementation, which also writes tables, is `random::table`.
//
// A table begins with a row for each part, which are those of an alias table: threshold, other
// part, and two words of what the part is. Bits 30 and 31 of the last word say which: a time of 62
// bits; a line, whose row (first time, length) the other word names; a curve, 2,048 rows from the
// one that the other word names. Rows are counted from the first of the table.
//
// A curve is an inverse distribution function in cells, each with two words of its first time,
// which hold the shift of the rise in their 6 highest bits; then the rise from end to end, and how
// far the curve is above its chord, times 4. The lower and the upper half have 32 octaves of the
// probability of the tail, and an octave has 32 cells.
//
// import: random/distributions.wgsl
// needs: law_row, mul_wide
//
// bounds: no array and no loop. Rows are within the table of the host, because a part is below
// `parts` or one that the table names.

const TABLE_CURVE = 1u;
const TABLE_LINE = 2u;
const TABLE_HALF = 1024u;

// The first word chooses a part, the second the time within it: larger for a larger word.
fn time_of_table(choice: u32, word: u32, parts: u32, first: u32) -> vec2<u32> {
    let scaled = mul_wide(choice, parts);
    var part = law_row(first + scaled.y);
    if scaled.x >= part.x { part = law_row(first + part.y); }
    let what = part.w >> 30u;
    if what == 0u { return part.zw; }
    if what == TABLE_LINE {
        let line = law_row(first + part.z);
        return wide_add(line.xy, add_word(mul_wide(line.w, word), mul_wide(line.z, word).y));
    }
    // Twice the distance from the end of the tail, in units of 2^-33.
    let above = word >> 31u;
    let tail = 2u * select(word, ~word, above == 1u) + 1u;
    let octave = countLeadingZeros(tail);
    let place = tail << octave;
    let cell = law_row(first + part.z + TABLE_HALF * above + 32u * octave + ((place >> 26u) & 31u));
    let x = place << 6u;
    // x (1 - x) is at most 1/4.
    let bend = bitcast<i32>(cell.w);
    let bent = mul_wide(u32(abs(bend)), mul_wide(x, ~x).y);
    let straight = mul_wide(cell.z, x);
    let rise = select(wide_add(straight, bent), wide_subtract(straight, bent), bend < 0);
    // The shift of the table is 0 to 57: the product is shifted right by 64 less that.
    let right = 64u - (cell.y >> 26u);
    // Two shifts, because a shift by 32 shifts by 0.
    let bits = right & 31u;
    let carried = (rise.y << (31u - bits)) << 1u;
    let near = vec2<u32>((rise.x >> bits) | carried, rise.y >> bits);
    let far = vec2<u32>(select(near.y, 0u, right == 64u), 0u);
    let change = select(near, far, right >= 32u);
    let base = vec2<u32>(cell.x, cell.y & 0x03ffffffu);
    return select(wide_add(base, change), wide_subtract(base, change), above == 1u);
}
