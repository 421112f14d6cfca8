// A thread pool that is starved, for tests of real runtimes: workers block in Task.Result for what only more workers could
// do. A runtime runs it in front of any program (DOTNET_STARTUP_HOOKS). Starved.dll is this file, compiled by Debian's mono-mcs:
//
//   mcs -target:library -optimize+ -out:Starved.dll Starved.cs
using System.Threading;
using System.Threading.Tasks;

internal static class StartupHook
{
    public static void Initialize()
    {
        var thread = new Thread(Hotel.Desk.Open);
        thread.IsBackground = true;
        thread.Start();
    }
}

namespace Hotel
{
    internal static class Desk
    {
        // A hundred guests a second, each of whom blocks a worker until another one has made the bed: that takes three
        // hundred workers, and a thread pool adds one or two a second.
        public static void Open()
        {
            while (true)
            {
                for (int guest = 0; guest < 100; guest++)
                    ThreadPool.QueueUserWorkItem(delegate { CheckIn(); });
                Thread.Sleep(1000);
            }
        }

        static int CheckIn()
        {
            return MakeBed().Result;
        }

        static async Task<int> MakeBed()
        {
            await Task.Delay(100);
            return await Task.Run(delegate { Thread.Sleep(1500); return 1; });
        }
    }
}
