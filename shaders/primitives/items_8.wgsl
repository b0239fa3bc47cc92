// A thread serves 8 keys of a tile.

const ITEMS = 8u;
