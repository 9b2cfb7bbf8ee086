import IoTCore
import NIOCore
import Testing

@testable import PeerTransport

/// A peer ends cleanly in every state.
@Suite struct PeerClosingTests {
    enum Moment: String, CaseIterable, Sendable {
        case new
        case offered
        case answered
        case checking
        case shaking
        case connected
        case disconnected
        case failed
    }

    @Test("After close in every state, the closing event is the last, and no timer remains", arguments: Moment.allCases)
    func closes(at moment: Moment) throws {
        let link = try PeerLink()
        let peer = link.peers[0]
        try bring(link, to: moment)
        if moment != .failed { peer.close(at: link.now) }
        var last: PeerEvent?
        while let output = peer.poll() {
            if case .event(let event) = output { last = event }
            if case .timeout = output {
                Issue.record("a closed peer still has a timer")
                return
            }
        }
        guard case .stateChanged(let state)? = last ?? link.events[0].last else {
            Issue.record("no last event")
            return
        }
        #expect(state.isEnd)
        // Neither time nor the peer nor a user causes further output.
        peer.handleTimeout(at: link.now + .seconds(60))
        for datagram in link.captured.suffix(50) { link.inject(datagram, to: 0) }
        peer.close(at: link.now + .seconds(61))
        peer.requestKeyFrame(mid: "0")
        #expect(!peer.send([], mid: "0", at: link.now + .seconds(61)))
        #expect(peer.poll() == nil)
    }

    private func bring(_ link: PeerLink, to moment: Moment) throws {
        switch moment {
        case .new: break
        case .offered: _ = try link.peers[0].createOffer()
        case .answered: try link.exchangeDescriptions()
        case .checking:
            link.isCut = true
            try link.exchangeDescriptions()
            try link.run(for: .milliseconds(300))
        case .shaking:
            // STUN passes, DTLS does not.
            link.tamper = { _, datagram in
                datagram.getInteger(at: datagram.readerIndex, as: UInt8.self) ?? 255 < 4 ? [datagram] : []
            }
            try link.exchangeDescriptions()
            try link.run(for: .seconds(1))
            #expect(link.peers[0].selectedAddress != nil && link.peers[0].srtp == nil)
        case .connected: try link.connect()
        case .disconnected:
            try link.connect()
            link.isCut = true
            try link.run(for: .seconds(12))
            #expect(link.states(0).last == "disconnected")
        case .failed:
            link.isCut = true
            try link.exchangeDescriptions()
            try link.run(for: .seconds(20))
            #expect(link.states(0).last == "failed handshakeTimeout")
        }
    }
}
