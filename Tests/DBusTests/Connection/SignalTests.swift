import TestFixtures
import Testing

@testable import DBus

@Suite("Signals", .heavy)
struct SignalTests {
    static let rule = MatchRule(interface: "org.example.Thing")

    /// Follows `rule` and answers what that asks the bus.
    static func follow(
        _ connection: Connection, _ peer: ScriptedPeer, _ rule: MatchRule = rule, buffer: Int = 16
    ) async throws -> Signals {
        let signals = Task { try await connection.signals(matching: rule, buffer: buffer) }
        try await acceptMatches(peer, rule.sender.map { $0.changesOwner ? 2 : 1 } ?? 1)
        if let sender = rule.sender, sender.changesOwner { try await answerOwner(peer, ":1.9") }
        return try await signals.value
    }

    static func acceptMatches(_ peer: ScriptedPeer, _ count: Int) async throws {
        for _ in 0..<count {
            let message = try await peer.next()
            #expect(message.content == .call(path: "/org/freedesktop/DBus", interface: .bus, member: "AddMatch"))
            try peer.reply(to: message)
        }
    }

    static func answerOwner(_ peer: ScriptedPeer, _ owner: String?) async throws {
        let message = try await peer.next()
        #expect(message.content == .call(path: "/org/freedesktop/DBus", interface: .bus, member: "GetNameOwner"))
        if let owner {
            try peer.reply(to: message, [owner.value])
        } else {
            try peer.send(.error(name: .nameHasNoOwner, replyTo: message.serial), ["no owner"])
        }
    }

    static func changeOwner(_ peer: ScriptedPeer, _ old: String, _ new: String, sender: BusName = .bus) throws {
        try peer.send(
            .signal(path: "/org/freedesktop/DBus", interface: .bus, member: "NameOwnerChanged"),
            ["org.example", old.value, new.value], sender: sender)
    }

    @Test("a rule is written as the bus reads it")
    func ruleText() {
        var rule = MatchRule(sender: "org.bluez", interface: "a.b", member: "M", path: "/a")
        rule.pathNamespace = "/b"
        rule.firstArgument = "it's"
        #expect(
            rule.text
                == #"type='signal',sender='org.bluez',interface='a.b',member='M',path='/a',path_namespace='/b',arg0='it'\''s'"#
        )
    }

    @Test("signals that fit come in order, others do not")
    func order() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let signals = try await Self.follow(connection, peer)
        try peer.signal("One", [.byte(1)])
        try peer.send(.signal(path: "/a", interface: "org.other.Thing", member: "Two"), sender: ":1.9")
        try peer.signal("Three")
        var iterator = signals.makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first?.member == "One")
        #expect(first?.arguments == [.byte(1)])
        #expect(first?.sender == ":1.9")
        #expect(try await iterator.next()?.member == "Three")
    }

    @Test(
        "each part of a rule counts",
        arguments: [
            (MatchRule(sender: ":1.9"), true), (MatchRule(sender: ":1.8"), false), (MatchRule(interface: "a.b"), true),
            (MatchRule(interface: "a.c"), false), (MatchRule(member: "M"), true), (MatchRule(member: "N"), false),
            (MatchRule(path: "/a/b"), true), (MatchRule(path: "/a"), false),
        ])
    func parts(rule: MatchRule, fits: Bool) {
        let signal = Signal(path: "/a/b", interface: "a.b", member: "M", arguments: ["x"], sender: ":1.9")
        #expect(rule.matches(signal) == fits)
        for (namespace, fits) in [("/a", fits), ("/a/b", fits), ("/", fits), ("/b", false)] as [(ObjectPath, Bool)] {
            var rule = rule
            rule.pathNamespace = namespace
            #expect(rule.matches(signal) == fits)
        }
        for (argument, fits) in [("x", fits), ("y", false)] {
            var rule = rule
            rule.firstArgument = argument
            #expect(rule.matches(signal) == fits)
        }
    }

    @Test("a full buffer ends the sequence after what was buffered")
    func overflow() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let signals = try await Self.follow(connection, peer, buffer: 2)
        for member in ["One", "Two", "Three"] as [MemberName] { try peer.signal(member) }
        try await Self.roundTrip(connection, peer)
        var members: [MemberName] = []
        await #expect(throws: DBusError.signalOverflow(limit: 2)) {
            for try await signal in signals { members.append(signal.member) }
        }
        #expect(members == ["One", "Two"])
    }

    /// A call and its answer: what the peer sent before has been dealt with.
    static func roundTrip(_ connection: Connection, _ peer: ScriptedPeer) async throws {
        let answer = Task { try await connection.call(CallTests.call) }
        while true {
            let message = try await peer.next()
            guard message.destination == "org.example" else { continue }
            try peer.reply(to: message)
            break
        }
        _ = try await answer.value
    }

    @Test("the end of the connection ends the sequence with its reason")
    func lost() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let signals = try await Self.follow(connection, peer)
        try peer.signal("One")
        peer.close()
        var members: [MemberName] = []
        await #expect(throws: DBusError.connectionLost(reason: "the peer closed the connection")) {
            for try await signal in signals { members.append(signal.member) }
        }
        #expect(members == ["One"])
        await #expect(throws: DBusError.connectionLost(reason: "the peer closed the connection")) {
            try await connection.signals(matching: Self.rule)
        }
    }

    @Test("a cancelled reader ends, and the bus is told to stop")
    func cancelled() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let signals = try await Self.follow(connection, peer)
        let reader = Task {
            for try await _ in signals {}
        }
        reader.cancel()
        try await reader.value
        let message = try await peer.next()
        #expect(message.content == .call(path: "/org/freedesktop/DBus", interface: .bus, member: "RemoveMatch"))
        #expect(message.body == [Self.rule.text.value])
        #expect(message.flags == .noReplyExpected)
    }

    @Test("a rule that the bus refuses is an error")
    func refusedRule() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let signals = Task { try await connection.signals(matching: Self.rule) }
        let message = try await peer.next()
        try peer.send(.error(name: "org.freedesktop.DBus.Error.MatchRuleInvalid", replyTo: message.serial), ["no"])
        await #expect(throws: DBusError.self) { _ = try await signals.value }
    }

    @Test("of a well-known name only the present owner is believed")
    func owner() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let signals = try await Self.follow(connection, peer, MatchRule(sender: "org.example"))
        try peer.signal("Forged", sender: ":1.66")
        try peer.signal("True", sender: ":1.9")
        try Self.changeOwner(peer, ":1.9", ":1.66", sender: ":1.66")
        try peer.signal("Forged", sender: ":1.66")
        try Self.changeOwner(peer, ":1.9", ":1.10")
        try peer.signal("Old", sender: ":1.9")
        try peer.signal("New", sender: ":1.10")
        try Self.changeOwner(peer, ":1.10", "")
        try peer.signal("Gone", sender: ":1.10")
        try Self.changeOwner(peer, "", ":1.11")
        try peer.signal("Back", sender: ":1.11")
        var iterator = signals.makeAsyncIterator()
        #expect(try await iterator.next()?.member == "True")
        #expect(try await iterator.next()?.member == "New")
        #expect(try await iterator.next()?.member == "Back")
    }

    @Test("a service is seen to vanish and to come back")
    func presence() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let following = Task { try await connection.presence(of: "org.example") }
        try await Self.acceptMatches(peer, 1)
        try await Self.answerOwner(peer, ":1.9")
        var presence = try await following.value.makeAsyncIterator()
        #expect(try await presence.next() == .present(owner: ":1.9"))
        try Self.changeOwner(peer, ":1.9", "")
        #expect(try await presence.next() == .absent)
        try Self.changeOwner(peer, "", ":1.12")
        #expect(try await presence.next() == .present(owner: ":1.12"))
        peer.close()
        await #expect(throws: DBusError.connectionLost(reason: "the peer closed the connection")) {
            try await presence.next()
        }
    }

    @Test("a service that is not there yet is absent, and a change before the bus's answer is the newer one")
    func absent() async throws {
        let (connection, peer) = try await ScriptedPeer.connected()
        let following = Task { try await connection.presence(of: "org.example") }
        try await Self.acceptMatches(peer, 1)
        let message = try await peer.next()
        try Self.changeOwner(peer, "", ":1.12")
        try peer.send(.error(name: .nameHasNoOwner, replyTo: message.serial), ["no owner"])
        var presence = try await following.value.makeAsyncIterator()
        #expect(try await presence.next() == .present(owner: ":1.12"))
    }
}
