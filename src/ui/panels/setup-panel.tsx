/** Left rail, upper part: model, calibration and run (in sight on every screen), recipe with what it simulates. */
import { ModelSection } from './model-section';
import { ProbeSection } from './probe-section';
import { RecipeSection } from './recipe-section';

export function SetupPanel() {
  return (
    <>
      <ModelSection />
      <ProbeSection />
      <RecipeSection />
    </>
  );
}
