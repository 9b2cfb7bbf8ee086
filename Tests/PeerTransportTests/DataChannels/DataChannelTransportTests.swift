import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import PeerTransport

@Suite struct DataChannelTransportTests {
    private func code(_ body: () throws -> Void) -> ErrorCode? {
        do {
            try body()
            return nil
        } catch {
            return (error as? IoTError)?.code
        }
    }

    @Test("Channels opened before and after the association is up reach the peer with all their options")
    func opens() throws {
        var link = DataChannelLink()
        let early = try link.open(
            0, "früh", options: DataChannelOptions(isOrdered: false, reliability: .maxRetransmits(2), priority: 512))
        #expect(link.ends[0].entries[early]?.channel.state == .connecting)
        #expect(code { try link.send(0, .text("x"), on: early) } == .channelDisconnected)
        try link.connect()
        let late = try link.ends[1].open(
            label: "late", subprotocol: "iot", options: .init(reliability: .maxPacketLifeTime(.milliseconds(250))),
            at: link.now
        ).id
        try link.run(for: .seconds(1))
        #expect(link.opened[0].map(\.label) == ["früh", "late"])
        #expect(link.opened[1].map(\.label).sorted() == ["früh", "late"])
        let first = try #require(link.opened[1].first { $0.label == "früh" })
        #expect(first.isRemote && first.streamID == 0 && first.state == .open)
        #expect(first.options == DataChannelOptions(isOrdered: false, reliability: .maxRetransmits(2), priority: 512))
        let second = try #require(link.opened[0].last)
        #expect(second.isRemote && second.streamID == 1 && second.subprotocol == "iot")
        #expect(second.options.reliability == .maxPacketLifeTime(.milliseconds(250)))
        // Once the peer has confirmed the channel, messages may be unordered.
        #expect(link.ends[0].entries[early]?.isConfirmed == true && link.ends[1].entries[late]?.isConfirmed == true)
    }

    @Test("Text, binary and empty messages arrive with their type, in order, under loss", arguments: 1...5)
    func delivers(seed: Int) throws {
        var link = DataChannelLink(seed: UInt64(seed))
        link.loss = 0.1
        link.jitter = .milliseconds(50)
        try link.connect()
        let ids = try link.openBoth(seed % 2)
        var random = SeededGenerator(seed: UInt64(seed))
        let sent: [DataChannelMessage] = [
            .text("hello"), .text(""), .binary(ByteBuffer()), .binary(ByteBuffer(bytes: random.bytes(64_000))),
            .text(String(repeating: "ä", count: 3000)), .binary(ByteBuffer(bytes: [0])),
        ]
        for message in sent {
            try link.send(0, message, on: ids[0])
            try link.send(1, message, on: ids[1])
        }
        try link.run(for: .seconds(60)) { $0.messages.allSatisfy { $0.count == sent.count } }
        for side in 0...1 {
            let areSame = link.messages[side].map(\.message) == sent
            #expect(areSame)
            #expect(link.messages[side].allSatisfy { $0.id == ids[side] })
            let statistics = try #require(link.ends[side].statistics.first)
            let bytes = UInt64(sent.reduce(0) { $0 + $1.byteCount })
            #expect(statistics.messagesSent == 6 && statistics.messagesReceived == 6)
            #expect(statistics.bytesSent == bytes && statistics.bytesReceived == bytes)
        }
        let transport = try #require(link.ends[0].transportStatistics)
        #expect(transport.smoothedRoundTripTime ?? .zero >= .milliseconds(40))
        #expect(transport.congestionWindow > 0 && transport.mtu == 1156)
    }

    @Test("A negotiated channel sends nothing to open; a number in use is refused")
    func negotiated() throws {
        var link = DataChannelLink()
        let options = DataChannelOptions(negotiatedID: 4)
        let ids = [try link.open(0, "left", options: options), try link.open(1, "right", options: options)]
        #expect(code { _ = try link.open(0, options: options) } == .duplicateChannel)
        #expect(code { _ = try link.open(0, options: .init(negotiatedID: 1024)) } == .invalidParameter)
        let other = try link.open(0, "third")
        try link.connect()
        #expect(link.opened[0].map(\.streamID) == [4, 0])
        #expect(link.opened[1].filter { !$0.isRemote }.map(\.label) == ["right"])
        try link.send(0, .text("x"), on: ids[0])
        try link.send(1, .text("y"), on: ids[1])
        try link.run(for: .seconds(1))
        #expect(link.messages[0].map(\.message) == [.text("y")] && link.messages[0].first?.id == ids[0])
        #expect(link.messages[1].map(\.message) == [.text("x")])
        // The next two channels skip the numbers in use.
        let next = try link.open(0)
        let after = try link.open(0)
        #expect(link.ends[0].entries[other]?.channel.streamID == 0)
        #expect(link.ends[0].entries[next]?.channel.streamID == 2)
        #expect(link.ends[0].entries[after]?.channel.streamID == 6)
    }

    @Test("Closing delivers what was sent, ends both sides, and frees the stream for reuse", arguments: 0...1)
    func closes(side: Int) throws {
        var link = DataChannelLink(seed: 8)
        link.loss = 0.1
        try link.connect()
        for round in 0..<5 {
            let ids = try link.openBoth(0, "round \(round)")
            #expect(link.ends[0].entries[ids[0]]?.channel.streamID == 0)
            for index in 0..<20 { try link.send(side, .text("\(index)"), on: ids[side]) }
            link.close(side, ids[side])
            #expect(code { try link.send(side, .text("late"), on: ids[side]) } == .channelDisconnected)
            try link.run(for: .seconds(60)) { $0.closed.allSatisfy { $0.count == round + 1 } }
            #expect(link.closed[0].last?.id == ids[0] && link.closed[0].last?.error == nil)
            #expect(link.closed[1].last?.id == ids[1] && link.closed[1].last?.error == nil)
            #expect(link.messages[1 - side].suffix(20).map(\.message) == (0..<20).map { .text("\($0)") })
            #expect(link.ends.allSatisfy { $0.entries.isEmpty && $0.byStream.isEmpty })
        }
        #expect(link.messages[1 - side].count == 100)
        #expect(link.ends[0].openedCount == 5 && link.ends[0].closedCount == 5)
    }

    @Test("Both sides may close one channel at the same time")
    func closesTogether() throws {
        var link = DataChannelLink()
        try link.connect()
        let ids = try link.openBoth()
        link.close(0, ids[0])
        link.close(1, ids[1])
        try link.run(for: .seconds(5))
        #expect(link.closed[0].map(\.id) == [ids[0]] && link.closed[1].map(\.id) == [ids[1]])
    }

    @Test("A channel that was never open closes at once")
    func closesEarly() throws {
        var link = DataChannelLink()
        let id = try link.open(0)
        link.close(0, id)
        try link.connect()
        try link.run(for: .seconds(1))
        #expect(link.closed[0].map(\.id) == [id])
        #expect(link.opened == [[], []])
    }

    @Test("A full send buffer throws channelSendFailed; bufferedAmountLow signals when to continue")
    func backPressure() throws {
        let bound = 300_000
        var link = DataChannelLink(configurations: [.init(maximumBufferedBytes: bound), .init()])
        try link.connect()
        let ids = try link.openBoth()
        link.ends[0].setBufferedAmountLowThreshold(50_000, of: ids[0])
        let message = DataChannelMessage.binary(ByteBuffer(repeating: 7, count: 20_000))
        var count = 0
        while code({ try link.send(0, message, on: ids[0]) }) == nil { count += 1 }
        #expect(count == bound / (20_000 + SCTPAssociation.messageOverhead))
        #expect(code { try link.send(0, message, on: ids[0]) } == .channelSendFailed)
        #expect(link.ends[0].bufferedAmount(of: ids[0]) == count * 20_000)
        try link.run(for: .seconds(5)) { !$0.low[0].isEmpty }
        #expect(link.low[0] == [ids[0]])
        #expect((1...50_000).contains(link.ends[0].bufferedAmount(of: ids[0])))
        #expect(code { try link.send(0, message, on: ids[0]) } == nil)
        try link.run(for: .seconds(10)) { $0.messages[1].count == count + 1 }
        #expect(link.messages[1].count == count + 1)
        try link.run(for: .seconds(1))
        // One event each time that the amount fell.
        #expect(link.low[0].count == 2)
    }

    @Test("A message over our 64,000 bytes or over the peer's limit throws dataTooLong; one at the limit is sent")
    func oversize() throws {
        var link = DataChannelLink(configurations: [.init(), .init(maximumReceivedMessage: 10_000)])
        try link.connect()
        let ids = try link.openBoth()
        #expect(code { try link.send(0, .binary(ByteBuffer(repeating: 0, count: 10_001)), on: ids[0]) } == .dataTooLong)
        #expect(code { try link.send(0, .binary(ByteBuffer(repeating: 0, count: 10_000)), on: ids[0]) } == nil)
        #expect(code { try link.send(1, .binary(ByteBuffer(repeating: 0, count: 64_001)), on: ids[1]) } == .dataTooLong)
        #expect(code { try link.send(1, .text(String(repeating: "a", count: 64_000)), on: ids[1]) } == nil)
        try link.run(for: .seconds(5))
        #expect(link.messages[0].count == 1 && link.messages[1].count == 1)
    }

    @Test("256 KiB are accepted; one byte more ends the data channels with dataTooLong on both sides")
    func oversizeReceived() throws {
        for (size, isTaken) in [(262_144, true), (262_145, false)] {
            var link = DataChannelLink(configurations: [.init(maximumSentMessage: 1 << 20), .init()])
            try link.connect()
            link.ends[0].agreement?.peerMaximumMessage = 0
            let ids = try link.openBoth()
            try link.send(0, .binary(ByteBuffer(repeating: 9, count: size)), on: ids[0])
            try link.run(for: .seconds(10))
            #expect(link.messages[1].map(\.message.byteCount) == (isTaken ? [size] : []))
            #expect(link.closed[1].map(\.error) == (isTaken ? [] : [.dataTooLong]))
            #expect(link.closed[0].map(\.error) == (isTaken ? [] : [.channelDisconnected]))
            if !isTaken {
                #expect(code { _ = try link.open(1) } == .dataTooLong)
            }
        }
    }

    @Test("When the streams run out, tooManyConnections follows, on both sides; a closed stream can be reused")
    func exhausts() throws {
        let many = DataChannelConfiguration(maximumChannels: 1024)
        var link = DataChannelLink(configurations: [many, many])
        try link.connect()
        var ids: [DataChannelID] = []
        for _ in 0..<512 { ids.append(try link.open(0)) }
        #expect(code { _ = try link.open(0) } == .tooManyConnections)
        try link.run(for: .seconds(20)) { $0.opened[1].count == 512 }
        #expect(link.opened[1].count == 512)
        link.close(0, ids[100])
        try link.run(for: .seconds(5)) { !$0.closed[0].isEmpty }
        let again = try link.open(0)
        #expect(link.ends[0].entries[again]?.channel.streamID == 200)
        try link.run(for: .seconds(5)) { $0.opened[1].count == 513 }
        #expect(link.opened[1].last?.streamID == 200)
    }

    @Test("A peer's channels beyond our limit are closed, and the peer is notified")
    func refusesTooMany() throws {
        var link = DataChannelLink(configurations: [.init(), .init(maximumChannels: 3)])
        try link.connect()
        for _ in 0..<5 { _ = try link.open(0) }
        try link.run(for: .seconds(20))
        #expect(link.opened[1].count == 3)
        #expect(link.closed[0].count == 2)
        #expect(code { _ = try link.open(1) } == .tooManyConnections)
    }

    @Test("An OPEN on our half of the streams or a malformed one is closed; data without a channel are ignored")
    func refusesWrongOpenings() throws {
        var link = DataChannelLink()
        try link.connect()
        let open = DCEPMessage.open(.init(label: "x", subprotocol: "")).write()
        // The server's streams are odd, but the client sends on these two.
        try link.ends[0].association?.send(open, on: 3, payloadProtocol: 50, at: link.now)
        try link.ends[0].association?.send(ByteBuffer(bytes: [3, 0]), on: 8, payloadProtocol: 50, at: link.now)
        try link.ends[0].association?.send(ByteBuffer(bytes: [1]), on: 10, payloadProtocol: 51, at: link.now)
        try link.run(for: .seconds(5))
        #expect(link.opened == [[], []])
        #expect(link.ends[1].ignored == 3)
        let ids = try link.openBoth()
        try link.send(0, .text("still there"), on: ids[0])
        try link.run(for: .seconds(1))
        #expect(link.messages[1].count == 1)
    }

    @Test("The end of the association closes every channel, with an error on the side that did not request it")
    func ends() throws {
        var link = DataChannelLink()
        try link.connect()
        _ = try link.openBoth(0, "a")
        _ = try link.openBoth(1, "b")
        link.ends[0].abort(at: link.now)
        try link.run(for: .seconds(1))
        #expect(link.closed[0].map(\.error) == [nil, nil])
        #expect(link.closed[1].map(\.error) == [.channelDisconnected, .channelDisconnected])
        #expect(link.ends.allSatisfy { $0.nextDeadline == nil && $0.entries.isEmpty })
        #expect(code { _ = try link.open(1) } == .channelDisconnected)
    }

    @Test("Options out of range throw invalidParameter")
    func options() throws {
        var link = DataChannelLink()
        for options in [
            DataChannelOptions(reliability: .maxRetransmits(-1)), .init(reliability: .maxRetransmits(65_536)),
            .init(reliability: .maxPacketLifeTime(.nanoseconds(-1))),
            .init(reliability: .maxPacketLifeTime(.seconds(66))),
        ] {
            #expect(code { _ = try link.open(0, options: options) } == .invalidParameter)
        }
        #expect(code { _ = try link.open(0, String(repeating: "é", count: 513)) } == .invalidParameter)
        #expect(link.ends[0].entries.isEmpty)
    }
}
