/** Every way in which two warehouses differ, each with its reason. */
export interface Dialect {
  readonly name: 'duckdb' | 'databricks';
}
