// How many subscriptions start below the key, where they are in order of their starts in dimension params.extra. At most
// 32 rounds.
//
// import: matching/boxes.wgsl

fn subscriptions_below(key: u32) -> u32 {
    let column = 2u * params.extra * params.subscriptions;
    var first = 0u;
    var end = params.subscriptions;
    while first < end {
        let middle = first + (end - first) / 2u;
        if subscriptions[column + middle] < key {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    return first;
}
