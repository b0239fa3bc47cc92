// A thread serves 13 keys of a tile.

const ITEMS = 13u;
