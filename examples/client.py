import asyncio
import sys
import openpai

async def main(server, path):
    where = {"url": server} if "://" in server else {"socket": server}
    async with openpai.Client(**where) as client:
        job = await client.submit(path)
        print(job, "is submitted")
        async for line in client.logs(job, follow=True):
            print(line)
        print(await client.wait(job))

asyncio.run(main(*sys.argv[1:]))
