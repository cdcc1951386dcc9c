"""Small files in the schemas of public traces; every number is made up."""

PODS = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
    "creation_time,deletion_time,scheduled_time"
)
NODES = "sn,cpu_milli,memory_mib,gpu,model"
DLRM = (
    "instance_sn,role,app_name,cpu_request,cpu_limit,gpu_request,gpu_limit,rdma_request,rdma_limit,"
    "memory_request,memory_limit,disk_request,disk_limit,max_instance_per_node,"
    "creation_time,scheduled_time,deletion_time"
)
REQUESTS = "TIMESTAMP,ContextTokens,GeneratedTokens"
EVENTS = "time,type,collection_id,instance_index,collection_type,alloc_collection_id,cpus,memory"
SAMPLE = ",submit_time,duration,cpu,memory,job_id,task_id,instances_num,disk"


def written(folder, name, *lines):
    """A file with these lines."""
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def nodes(folder, *lines):
    """A list of nodes; by default two of them."""
    return written(
        folder,
        "nodes.csv",
        NODES,
        *(lines or ("n,32000,65536,2,T4", "m,64000,131072,0,", "o,8000,65536,8,V100")),
    )
