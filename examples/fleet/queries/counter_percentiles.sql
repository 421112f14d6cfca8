-- Distribution of the values of counters over all traces.
select provider, name, count(value) as values_there,
       percentile_cont(0.5) within group (order by value) as median,
       percentile_cont(0.95) within group (order by value) as p95,
       max(value) as largest
from counters
group by provider, name
order by provider, name
