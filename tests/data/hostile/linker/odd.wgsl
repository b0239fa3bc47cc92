// import: nowhere.wgsl
// requires: int64
/* /* */ fn a() { let x = ((((1)))); } /*