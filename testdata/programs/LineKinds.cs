// Spins for known times on known lines, in each kind of method that has code or IL of its own: generics with shared and with own
// code, loops whose code is replaced while they run, lambdas, iterators, async and local functions, `#line`, IL without a line.
// analysis/tests/line_kinds.rs finds the lines by their comments.
//
//   mcs -debug -optimize+ -out:LineKinds.exe LineKinds.cs        (Debian's mono-mcs)
//   nettrace collect --lines --thread-times off -- dotnet LineKinds.dll
//
// LineKinds.pdb has the sequence points of the .mdb file that mcs writes; the one below `#line hidden` is hidden, as other compilers
// write it. LineKinds.dll is the program with a debug directory that has the PDB's id, and with the name that compilers give
// to local functions, which mcs does not know, in place of LocalTwice__________.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

struct Pair : IComparable<Pair>
{
    public long A, B;
    public int CompareTo(Pair other)
    {
        LineKinds.Spin(1);                                      // comparer: called by the framework's code for Pair
        return A.CompareTo(other.A);
    }
}

class Box<T>
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public T Take(T value, int ms)
    {
        LineKinds.Spin(ms);                                     // box: Box<int> and Box<long> have their own code, Box<string> and Box<object> share one
        return value;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Count<U>(int ms)
    {
        int n = typeof(T).Name.Length;
        LineKinds.Spin(ms);                                     // generic method of a generic type
        return n + typeof(U).Name.Length;
    }
}

static class LineKinds
{
    static long sink;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Spin(int ms)
    {
        long end = Stopwatch.GetTimestamp() + ms * Stopwatch.Frequency / 1000;
        while (Stopwatch.GetTimestamp() < end) { }              // spin
    }

    static T Same<T>(T value, int ms)
    {
        if (ms > 0)
        {
            Spin(ms);                                           // same: of int, Pair, string and object
        }
        return value;
    }

    static long Loop(long count)
    {
        long x = 1;
        for (long i = 0; i < count; i++)
        {
            x = x * 31 + i;                                     // first loop: begins in tier 0, and is replaced on the stack
        }
        x ^= 5;
        for (long i = 0; i < count; i++)
        {
            x = (x << 1) ^ (x >> 3) + i;                        // second loop
        }
        return x;
    }

    static IEnumerable<int> Steps(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Spin(20);                                           // before yield
            yield return i;
            Spin(10);                                           // after yield
        }
    }

    static async Task Later()
    {
        await Task.Delay(5);
        Spin(150);                                              // after the first await
        await Task.Delay(5);
        Spin(100);                                              // after the second await
    }

    static void Lambdas()
    {
        Action plain = () => Spin(150);                         // lambda
        plain();
        int ms = 100;
        Action captured = () =>
        {
            Action inner = () => Spin(ms);                      // lambda in a lambda
            inner();
            Spin(50 + ms / 2);                                  // lambda around it
        };
        captured();                                             // caller of lambda
        sink += Enumerable.Range(0, 10).Where(i => { Spin(10); return i > 3; }).Count(); // lambda that the framework calls
    }

    static void Directives()
    {
        Spin(100);                                              // before #line
#line 40 "Views/Page.cshtml"
        Spin(150);                                              // Views/Page.cshtml:40
#line hidden
        Spin(120);                                              // hidden
#line 7 "Views/Other.cshtml"
        Spin(80);                                               // Views/Other.cshtml:7
#line default
        Spin(60);                                               // after #line
    }

    static void LocalTwice__________(int ms)
    {
        Spin(ms);                                               // local
        Spin(ms);                                               // local, again
    }

    static void Locals()
    {
        LocalTwice__________(60);                               // caller of local
    }

    static void Catches()
    {
        try
        {
            throw new InvalidOperationException("planted");     // left
        }
        catch (InvalidOperationException e) when (e.Message.Length > 0)
        {
            Spin(100);                                          // in a catch block
        }
        finally
        {
            Spin(80);                                           // in a finally block
        }
    }

    static void Main()
    {
        Console.WriteLine("ready");
        new Box<int>().Take(1, 100);                            // caller of Box<int>
        new Box<long>().Take(1, 110);
        new Box<string>().Take("", 120);
        new Box<object>().Take("", 130);
        sink += Box<string>.Count<int>(90) + Box<Pair>.Count<string>(70);
        Same(1, 100); Same(new Pair(), 80); Same("", 60); Same(new object(), 40);
        sink += Loop(150000000);                                // caller of the loops
        foreach (int i in Steps(6)) sink += i;                  // caller of the iterator
        Later().Wait();
        Lambdas();
        Directives();
        Locals();
        Catches();
        new List<Pair> { new Pair { A = 3 }, new Pair { A = 2 }, new Pair { A = 1 } }.Sort();
        var sorted = new SortedSet<Pair>();
        for (int i = 0; i < 20; i++) sorted.Add(new Pair { A = i * 7 % 20 });
        Console.WriteLine("done " + sink);
        Thread.Sleep(200);
    }
}
