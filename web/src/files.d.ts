// What esbuild takes besides scripts.
declare module '*.css';
