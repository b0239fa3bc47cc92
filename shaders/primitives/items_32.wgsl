// A thread serves 32 keys of a tile.

const ITEMS = 32u;
