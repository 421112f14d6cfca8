// Serves orders, each an activity with two awaits, in methods of either kind: those that the compiler turns into state machines, and
// those that the runtime itself suspends (.NET 11). OrderStop has the time for which its order ran. analysis/tests/async_turns.rs
// compares it with reports. A server, which is not here, answers calls after 30 ms, and sends the content 20 ms later.
//
//   mcs -optimize+ -r:System.Runtime.dll -r:System.Net.Http.dll -out:Orders.exe Orders.cs        (Debian's mono-mcs)
//   nettrace collect --thread-times off --providers 'Orders-Events,System.Threading.Tasks.TplEventSource:0x1FF:5' --rundown false
//       -- dotnet Orders.dll runtime 1                                    (orders-tasks)
//   nettrace collect --thread-times off --providers 'Orders-Events,System.Runtime.CompilerServices.AsyncProfilerEventSource:0x3FFFF:4'
//       -- dotnet Orders.dll runtime 1                                    (orders-profiler)
//   nettrace collect --thread-times off --providers 'System.Net.Http,System.Threading.Tasks.TplEventSource:0x80,
//       System.Runtime.CompilerServices.AsyncProfilerEventSource:0x3FFFF:4' -- dotnet Orders.dll http 10     (http-profiler)
//
// mcs does not know methods that the runtime suspends, nor AsyncHelpers: it is given a System.Runtime.dll with that class alone. In
// Orders.dll the flag Synchronized of the methods below RuntimeAsync is Async (0x2000), and `call Return; ldnull; ret` is `ret`, as
// such a method returns nothing where its task has no value. DOTNET_RuntimeAsync=1 is set.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Net.Http;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

[EventSource(Name = "Orders-Events")]
internal sealed class Log : EventSource
{
    public static readonly Log It = new Log();
    [Event(1)] public void OrderStart(int id) { WriteEvent(1, id); }
    [Event(2)] public void OrderStop(int id, int ranMicros) { WriteEvent(2, id, ranMicros); }
}

internal static class Orders
{
    private static void Main(string[] args)
    {
        if (args[0] == "http")
            Call(int.Parse(args[1])).Wait();
        else
            ServeAll(args);
        // The async profiler tells what a thread did when the thread has been idle for a time.
        Thread.Sleep(3500);
    }

    private static void ServeAll(string[] args)
    {
        bool runtimeAsync = args[0] == "runtime";
        double seconds = double.Parse(args[1]);
        ThreadPool.SetMinThreads(4, 4);
        var watch = Stopwatch.StartNew();
        var workers = new List<Task>();
        for (int worker = 0; worker < 2; worker++)
        {
            int first = worker * 1000;
            workers.Add(Task.Run(() => Serve(first, runtimeAsync, watch, seconds)));
        }
        Task.WaitAll(workers.ToArray());
        Console.WriteLine(served + " orders");
    }

    private static async Task Call(int count)
    {
        var client = new HttpClient();
        for (int i = 0; i < count; i++)
            await client.GetStringAsync("http://127.0.0.1:18345/cart");
    }

    private static int served;

    private static async Task Serve(int id, bool runtimeAsync, Stopwatch watch, double seconds)
    {
        while (watch.Elapsed.TotalSeconds < seconds)
        {
            id++;
            Interlocked.Increment(ref served);
            if (runtimeAsync) await RuntimeAsync.Handle(id); else await Handle(id);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static async Task Handle(int id)
    {
        Log.It.OrderStart(id);
        int ran = Parse();
        await Task.Delay(20);
        ran += Price();
        ran += await Store();
        Log.It.OrderStop(id, ran);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static async Task<int> Store()
    {
        await Task.Delay(15);
        return Save();
    }

    [MethodImpl(MethodImplOptions.NoInlining)] public static int Parse() { return Spin(5); }
    [MethodImpl(MethodImplOptions.NoInlining)] public static int Price() { return Spin(15); }
    [MethodImpl(MethodImplOptions.NoInlining)] public static int Save() { return Spin(10); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Spin(int milliseconds)
    {
        var watch = Stopwatch.StartNew();
        while (watch.ElapsedMilliseconds < milliseconds) { }
        return (int)(watch.Elapsed.TotalMilliseconds * 1000);
    }
}

internal static class RuntimeAsync
{
    public static void Return() { }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.Synchronized)]
    public static Task Handle(int id)
    {
        Log.It.OrderStart(id);
        var ran = new Counted { Micros = Orders.Parse() };
        AsyncHelpers.Await(Task.Delay(20));
        ran.Micros += Orders.Price();
        AsyncHelpers.Await(Store(ran));
        Log.It.OrderStop(id, ran.Micros);
        Return(); return null;
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.Synchronized)]
    private static Task Store(Counted ran)
    {
        AsyncHelpers.Await(Task.Delay(15));
        ran.Micros += Orders.Save();
        Return(); return null;
    }

    private sealed class Counted { public int Micros; }
}
