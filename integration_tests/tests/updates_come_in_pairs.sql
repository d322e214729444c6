-- Both halves of an update carry the same row id and are in the same run.
select _row_id, _commit_version
from {{ ref('flight_changes') }}
where _change_type like 'update%'
group by _row_id, _commit_version
having count(*) <> 2
