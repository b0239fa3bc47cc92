// The parameters of a model's replicas: `params` is the row of the open replica. It replaces the
// model's own declaration, a uniform buffer in a single run.
//
// Functions: params_open.
//
// provides: params, params_open
// needs: Params

@group(1) @binding(0) var<storage, read> params_rows: array<Params>;

var<private> params: Params;

fn params_open(point: u32) {
    params = params_rows[point];
}
