-- Share of each method in the time of all threads that ran, in two builds.
with leaves as (select distinct stack_id, frame_id from stacks where depth = 0),
     -- Unnamed code that a method called is a frame after it: `M → native call`.
     names as (
         select distinct frame_id, split_part(text, ' → ', 1) as text from frames where is_named and not is_guessed
     ),
     -- What the recording itself did in the process: one row, `(recording)`, in reports.
     recording as (
         select distinct stack_id from stacks join frames using (frame_id)
         where text like '%EventSource.InitializeDefaultEventSources%' or text like '%EventSource.SendCommand%'
            or text like '%EventSource.DoCommand%' or text like '%Tracing.CounterGroup.OnTimer%'
            or text like '%Tracing.CounterGroup.PollForValues%'
     ),
     running as (
         select build, text as method, weight_ns
         from samples join leaves using (stack_id) join names using (frame_id)
         where kind = 'cpu' and state in ('managed', 'native') and stack_id not in (select stack_id from recording)
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
