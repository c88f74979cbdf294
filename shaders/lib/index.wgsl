// Linear invocation id over the near-square grids of src/gpu/gpu.ts `grid` (a dispatch dimension ends at 65,535).
fn linear_id(group: vec3<u32>, groups: vec3<u32>, local: u32, size: u32) -> u32 {
  return (group.y * groups.x + group.x) * size + local;
}
