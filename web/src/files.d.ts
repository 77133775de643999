// Other file types that esbuild imports.
declare module '*.css';
