"""The streaming client of vLLM's `bench serve` as a peer for bench/wire-cpu.mjs: argv is port, streams; prints one JSON line.

It needs an interpreter in which `vllm` imports. CPU is user and system time of this process while the streams run, as for the others.
"""

import asyncio
import gc
import json
import resource
import sys
import time

import aiohttp
import vllm
from vllm.benchmarks.lib.endpoint_request_func import RequestFuncInput, async_request_openai_chat_completions


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def main(port, streams):
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60)
    timeout = aiohttp.ClientTimeout(total=600)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        asked = RequestFuncInput(prompt="x", api_url=url, prompt_len=1, output_len=1, model="demo-8b")
        # As vLLM's own benchmark does before it measures.
        gc.collect()
        gc.freeze()
        before, began = cpu_seconds(), time.perf_counter()
        answers = await asyncio.gather(
            *(async_request_openai_chat_completions(asked, session=session) for _ in range(streams))
        )
        used, took = cpu_seconds() - before, time.perf_counter() - began
    failed = [answer.error for answer in answers if not answer.success]
    if failed:
        raise SystemExit(f"{len(failed)} of {streams} streams failed: {failed[0]}")
    # One stamp more than tokens in each stream: that of the chunk with the finish reason.
    events = sum(len(answer.itl) for answer in answers)
    print(
        json.dumps(
            {
                "version": vllm.__version__,
                "events": events,
                "cpuUsPerEvent": used * 1e6 / events,
                "busyShare": used / took,
            }
        )
    )


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
