// modules.d.ts - what the bundler makes of files that are no modules
declare module "*.yaml" {
  const text: string;
  export default text;
}
