// Linear invocation id over the near-square grids of src/gpu/gpu.ts `grid` (a dispatch dimension ends at 65,535).
fn linear_id(group: vec3<u32>, groups: vec3<u32>, local: u32, size: u32) -> u32 {
  return (group.y * groups.x + group.x) * size + local;
}

// Every kernel but the GEMMs (which are cut by rows) adds `first_id`, the last field of its Params: a dispatch too long for
// one submission is cut into several over ranges of ids (src/engine/executor.ts). Uncut it is 0, as unset Params are.
