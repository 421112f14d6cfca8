-- Traces that lost events or could not be read as a whole: their numbers are too low.
select path, status, lost, lost_threads, damage_count
from inputs
where lost > 0 or status <> 'ok'
order by path
