// Objects of known number, size and owners, for tests of heap dumps of real runtimes. A runtime runs it in front of any
// program (DOTNET_STARTUP_HOOKS), so each of them can hold these objects, from .NET Core 3.1 on. KnownGraph.dll is this
// file, compiled by Debian's mono-mcs:
//
//   mcs -target:library -optimize+ -out:KnownGraph.dll KnownGraph.cs
using System;
using System.Collections.Generic;

internal static class StartupHook
{
    public static void Initialize()
    {
        Known.Graph.Make();
    }
}

namespace Known
{
    // 1,000 of them in a list that a static variable holds, each with a cart and 100 bytes.
    public sealed class Session
    {
        public Cart Cart = new Cart();
        public byte[] Data = new byte[100];
    }

    public sealed class Cart
    {
        public long Total;
    }

    // 500 of them in a ring, of which a static variable holds one.
    public sealed class Link
    {
        public Link Next;
    }

    // A publisher that lives for ever, and 300 subscribers that nobody else holds.
    public sealed class Publisher
    {
        public event EventHandler Changed;

        public void Raise()
        {
            if (Changed != null) Changed(this, EventArgs.Empty);
        }
    }

    public sealed class Subscriber
    {
        public int Changes;

        public void OnChanged(object sender, EventArgs arguments)
        {
            Changes++;
        }
    }

    // 200 of them in a ring that nobody holds.
    public sealed class Garbage
    {
        public Garbage Next;
    }

    public static class Graph
    {
        private static readonly List<Session> s_sessions = new List<Session>();
        private static readonly Publisher s_publisher = new Publisher();
        private static Link s_ring;

        public static void Make()
        {
            for (int i = 0; i < 1000; i++) s_sessions.Add(new Session());
            s_ring = new Link();
            Link last = s_ring;
            for (int i = 1; i < 500; i++)
            {
                last.Next = new Link();
                last = last.Next;
            }
            last.Next = s_ring;
            for (int i = 0; i < 300; i++) s_publisher.Changed += new Subscriber().OnChanged;
            s_publisher.Raise();
            Drop();
        }

        private static void Drop()
        {
            Garbage first = new Garbage();
            Garbage last = first;
            for (int i = 1; i < 200; i++)
            {
                last.Next = new Garbage();
                last = last.Next;
            }
            last.Next = first;
        }
    }
}
