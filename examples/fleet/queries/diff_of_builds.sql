-- How much of the time of all threads that ran went into each method, in two builds.
with leaves as (select distinct stack_id, frame_id from stacks where depth = 0),
     names as (select distinct frame_id, text from frames where is_named and not is_guessed),
     running as (
         select build, text as method, weight_ns
         from samples join leaves using (stack_id) join names using (frame_id)
         where kind = 'cpu' and state in ('managed', 'native')
     ),
     totals as (
         select cast(sum(case when build = '1.4.0' then weight_ns else 0 end) as double) as old_ns,
                cast(sum(case when build = '1.5.0' then weight_ns else 0 end) as double) as new_ns
         from running
     )
select method,
       100.0 * sum(case when build = '1.4.0' then weight_ns else 0 end) / max(old_ns) as old_percent,
       100.0 * sum(case when build = '1.5.0' then weight_ns else 0 end) / max(new_ns) as new_percent
from running cross join totals
group by method
order by abs(100.0 * sum(case when build = '1.5.0' then weight_ns else 0 end) / max(new_ns)
           - 100.0 * sum(case when build = '1.4.0' then weight_ns else 0 end) / max(old_ns)) desc, method
limit 50
