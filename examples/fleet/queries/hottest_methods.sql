-- The methods in which threads ran the longest, over all traces. Addresses without a name are left out.
with leaves as (select distinct stack_id, frame_id from stacks where depth = 0),
     names as (select distinct frame_id, text from frames where is_named and not is_guessed)
select text as method, count(*) as samples, cast(sum(weight_ns) as bigint) as self_ns
from samples join leaves using (stack_id) join names using (frame_id)
where kind = 'cpu' and state in ('managed', 'native')
group by text
order by self_ns desc, method
limit 50
