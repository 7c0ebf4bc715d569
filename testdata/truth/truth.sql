-- Queries of many shapes, whose expressions PostgreSQL compiles with LLVM. Its dump has
-- no lines. Names are evalexpr_Q_N: Q counts queries from 0, N the expressions of one. A
-- comment marks what is hot, see internal/truth. postgres --single reads a statement a line.
set jit = off; set max_parallel_workers_per_gather = 0; set work_mem = '64MB';
create table t as select i, i::float8 as f, i::text as s, i % 7 as k, array[i, i + 1] as a, i::numeric as n, date '2026-01-01' + i % 365 as d from generate_series(1, 300000) i;
set jit = on; set jit_above_cost = 0; set jit_inline_above_cost = 0; set jit_optimize_above_cost = 0;
select count(*) from t where (i * 31 + k * 7) % 11 = 3 and f * 0.5 + 1 > k and i <> k * 5 and i + k > 0; -- hot: evalexpr_0_*
select sum(i * 33 + k), avg(f * 0.25 + i), max(i * 2 - k), min(k * i + 1) from t; -- hot: evalexpr_1_*
select k, count(*), sum(case when i % 3 = 0 then i when i % 3 = 1 then -i else k end) from t group by k; -- hot: evalexpr_2_*
select count(*) from t where i in (1, 2, 3) or i between 100 and 250000 and not (k = 2 or k = 3); -- hot: evalexpr_3_*
select sum(coalesce(nullif(i, k), 0) + greatest(i, k) - least(i, k)) from t where f is not null; -- hot: evalexpr_4_*
select count(*) from t x join t y on x.i = y.i where x.k + y.k < 9 and x.f + y.f > 4; -- hot: evalexpr_5_*
select sum(x.y * 35 + x.i) from (select i, i * 37 + k as y from t where i > 10 offset 0) x where x.y % 5 <> 1; -- hot: evalexpr_6_*
select count(*) from t where (i, k) > (5, 1) and (k, i) < (6, 290000); -- hot: evalexpr_7_*
select count(*) from t where a[1] + a[2] > 7 and k = any (array[1, 2, 3]); -- hot: evalexpr_8_*
select sum(f * f + f / 3 - sqrt(f)) from t; -- hot: evalexpr_9_*
select count(*) from t where i::int8 * 41 % 13 = 5 and i::float8 > 4 and k::text <> '9'; -- hot: evalexpr_10_*
select count(*) from t where d > date '2026-03-01' and d - 30 < date '2026-12-01'; -- hot: evalexpr_11_*
select count(*) from t where s < '5' and length(s) > 2; -- hot: evalexpr_12_*
select count(*), sum(i) filter (where k = 3), sum(i) filter (where k > 3 and i % 2 = 0) from t; -- hot: evalexpr_13_*
select max(r) from (select sum(i) over (partition by k order by i) + i * 43 as r from t) x; -- hot: evalexpr_14_*
select count(*) from t where exists (select from t y where y.i = t.i and y.k + t.k > 3); -- hot: evalexpr_15_*
select count(*) from (select distinct (i * 45 + k) % 1000 from t) x; -- hot: evalexpr_16_*
select count(*) from (select i * 47 + k as v from t order by i * 49 % 1000, k) x where v > 5; -- hot: evalexpr_17_*
select count(*) from (select i + k as v from t where k < 4 union all select i - k from t where k > 2) x where v % 3 = 0; -- hot: evalexpr_18_*
select sum(x * 51), count(*) filter (where x % 5 = 1) from generate_series(1, 300000) x where x % 7 <> 2; -- hot: evalexpr_19_*
select count(*) from t where n * 2 + 1 > k and i is distinct from k; -- hot: evalexpr_20_*
select bool_and(i > 0), bool_or(k = 9), bit_xor(i * 53 + k) from t; -- hot: evalexpr_21_*
select count(*) from t left join (select i, k from t where k > 2) y using (i) where coalesce(y.k, 0) + t.k < 8; -- hot: evalexpr_22_*
update t set k = (k * 55 + i) % 7, f = f * 0.5 + i where i % 2 = 0; -- hot: evalexpr_23_*
