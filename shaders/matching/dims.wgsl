// Dimensions of the regions, 1 to 4.

override DIMS: u32 = 1u;
