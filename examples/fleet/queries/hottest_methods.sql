-- The methods in which threads ran the longest, over all traces. Addresses without a name are left out.
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
     )
select text as method, count(*) as samples, cast(sum(weight_ns) as bigint) as self_ns
from samples join leaves using (stack_id) join names using (frame_id)
where kind = 'cpu' and state in ('managed', 'native') and stack_id not in (select stack_id from recording)
group by text
order by self_ns desc, method
limit 50
