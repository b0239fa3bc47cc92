// A thread serves 12 keys of a tile.

const ITEMS = 12u;
