import IoTCore
import PeerTransport

/// Exchanges descriptions and trickled candidates between our peer and one in Python.
struct Signalling {
    let ours: ShellPeer
    let theirs: PythonPeer
    private let trickling: [Task<Void, any Error>]

    /// From here on, candidates are exchanged until `end`.
    init(_ ours: ShellPeer, _ theirs: PythonPeer) {
        self.ours = ours
        self.theirs = theirs
        trickling = [
            Task {
                for await text in ours.candidates {
                    try theirs.tell(["do": .string("candidate"), "candidate": .string(text)])
                }
            },
            Task {
                for await text in theirs.candidates { try await ours.run { try $0.addRemoteCandidate(text) } }
            },
        ]
    }

    func end() {
        for task in trickling { task.cancel() }
    }

    /// Sends our offer and waits for the answer.
    /// - Parameter restart: Whether the offer restarts ICE on an existing connection.
    func offer(restart: Bool = false) async throws {
        let offer = try await ours.run { try (restart ? $0.createRestartOffer() : $0.createOffer()).text }
        try theirs.tell(["do": .string("accept"), "sdp": .string(offer)])
        let answer = try await theirs.next("answer")["sdp"]?.stringValue ?? ""
        try await ours.run { try $0.setAnswer(SessionDescription(parsing: answer)) }
    }

    /// Makes the peer offer with `command`, and answers.
    func answer(_ command: [String: JSONValue] = ["do": .string("offer")]) async throws {
        try theirs.tell(command)
        let offer = try await theirs.next("offer")["sdp"]?.stringValue ?? ""
        let answer = try await ours.run { try $0.createAnswer(to: SessionDescription(parsing: offer)).text }
        try theirs.tell(["do": .string("answer"), "sdp": .string(answer)])
    }
}
