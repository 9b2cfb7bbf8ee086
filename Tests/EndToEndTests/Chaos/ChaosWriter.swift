import Foundation
import TestSupport

/// Writes its own property, again and again, and compares every answer with the request.
struct ChaosWriter: Sendable {
    enum Target: Sendable {
        /// `ProUser.{name}`, with the value `w{writer}.{number}`.
        case user(String)
        /// `ProWritable.{name}`, a whole number, or a numeric member of it.
        case writable(String, member: String? = nil)
    }

    struct Figures: Sendable {
        var acknowledged = 0
        var retried = 0
        var givenUp = 0
        var reads = 0
        var actions = 0
        var messages = 0

        static func += (left: inout Figures, right: Figures) {
            left.acknowledged += right.acknowledged
            left.retried += right.retried
            left.givenUp += right.givenUp
            left.reads += right.reads
            left.actions += right.actions
            left.messages += right.messages
        }
    }

    let number: Int
    let device: String
    let target: Target
    /// The box at which it writes; it reads at both boxes.
    let home: ChaosSite.Box
    let site: ChaosSite
    let seed: UInt64

    private(set) var shadow = ShadowProperty<Int>()
    private(set) var figures = Figures()
    private(set) var problems: [String] = []
    private var generator: SeededGenerator
    private var next = 0

    init(
        number: Int, device: String, target: Target, home: ChaosSite.Box, site: ChaosSite, seed: UInt64
    ) {
        self.number = number
        self.device = device
        self.target = target
        self.home = home
        self.site = site
        self.seed = seed
        generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
    }

    private var path: String {
        switch target {
        case .user(let name): "ProUser.\(name).val"
        case .writable(let name, let member): "ProWritable.\(name).setVal" + (member.map { ".\($0)" } ?? "")
        }
    }

    private func body(_ write: Int) -> String {
        switch target {
        case .user: #""w\#(number).\#(write)""#
        case .writable: "\(number * 1_000_000 + write)"
        }
    }

    /// The number of this writer's write that has this value; `nil` for any other value.
    private func write(of value: Any?) -> Int? {
        switch target {
        case .user:
            guard let text = value as? String, text.hasPrefix("w\(number).") else { return nil }
            return Int(text.dropFirst("w\(number).".count))
        case .writable:
            guard let value = value as? Int, value / 1_000_000 == number else { return nil }
            return value % 1_000_000
        }
    }

    // MARK: Requests

    /// Makes the property, before the first fault.
    mutating func prepare() async {
        guard case .user(let name) = target else { return }
        let answer = await site.client(home).request(
            "POST", "/v1/devices/\(device)/user-properties/\(name)", body: #""none""#)
        if answer?.status != 200 { problems.append("\(self.path): \(answer?.text ?? "no answer")") }
    }

    /// Runs until the task is cancelled or something is wrong, and then finishes the current write.
    mutating func run() async {
        while !Task.isCancelled, problems.isEmpty {
            await writeOnce()
            switch Int.random(in: 0..<8, using: &generator) {
            case 0..<4: await read()
            case 4: await takeAction()
            case 5: await sendMessage()
            default: break
            }
        }
    }

    private mutating func writeOnce() async {
        next += 1
        let isImpatient = Int.random(in: 0..<10, using: &generator) == 0
        let key = "c\(seed)-\(number)-\(next)"
        while problems.isEmpty {
            let answer = await site.client(home).request(
                "PUT", "/v1/devices/\(device)/properties?path=\(path)", body: body(next), key: key)
            if let answer, answer.status == 200 {
                figures.acknowledged += 1
                return accept(answer)
            }
            if let problem = Self.problem(of: answer) {
                return problems.append("write \(next) of \(device) \(path): \(problem)")
            }
            guard !isImpatient, !Task.isCancelled else {
                figures.givenUp += 1
                return shadow.gaveUp(next)
            }
            figures.retried += 1
            // While a daemon starts there is no event to wait for.
            try? await ContinuousClock().sleep(for: .milliseconds(Int.random(in: 20...200, using: &generator)))
        }
    }

    /// Checks that the answer is for this write: it contains the whole property.
    private mutating func accept(_ answer: SocketClient.Answer) {
        let property = answer.object["value"] as? [String: Any]
        var value = property?["val"] ?? property?["setVal"]
        if case .writable(_, let member?) = target { value = (value as? [String: Any])?[member] }
        guard write(of: value) == next, let version = answer.object["version"] as? Int else {
            return problems.append("the answer to write \(next) of \(device) \(path) is another's: \(answer.text)")
        }
        if let wrong = shadow.acknowledge(next, version: version) { problems.append("\(device) \(path): \(wrong)") }
    }

    /// Reads at one of the boxes. Both must return the same acknowledged value.
    mutating func read(at box: ChaosSite.Box? = nil) async {
        let box = box ?? [.hub, .gateway].randomElement(using: &generator) ?? .hub
        guard
            let answer = await site.client(box).request("GET", "/v1/devices/\(device)/properties?path=\(path)"),
            answer.status == 200
        else { return }
        figures.reads += 1
        let value = answer.object["value"]
        if let wrong = shadow.judge(write(of: value), version: answer.object["version"] as? Int) {
            problems.append("\(device) \(path) at \(box): \(wrong); read was \(answer.text)")
        }
    }

    private mutating func takeAction() async {
        let answer = await site.client(home).request(
            "POST", "/v1/devices/\(device)/actions", body: #"{"path":"Action.cameraOn","value":1}"#,
            key: "c\(seed)-\(number)-a\(next)")
        if answer?.status == 200 {
            figures.actions += 1
        } else if let problem = Self.problem(of: answer) {
            problems.append("cameraOn of \(device): \(problem)")
        }
    }

    /// Sends a message with a unique text, and checks that the answer is for that text.
    private mutating func sendMessage() async {
        let kinds: [(String, Set<Int>)] = [("live", [0, 1]), ("voice", [406]), ("w\(number)", [404])]
        guard let (kind, right) = kinds.randomElement(using: &generator) else { return }
        let answer = await site.client(home).request(
            "POST", "/v1/devices/\(device)/messages",
            body: #"{"text":"get_device_st&type=\#(kind)","responses":"one","timeoutMilliseconds":5000}"#)
        guard let answer, answer.status == 200 else {
            if let problem = Self.problem(of: answer) { problems.append("a message to \(device): \(problem)") }
            return
        }
        figures.messages += 1
        let status = Self.deviceStatus(answer)
        if status.map(right.contains) != true {
            problems.append("the answer of \(device) to type=\(kind) is another's: \(answer.text)")
        }
    }

    private static func deviceStatus(_ answer: SocketClient.Answer) -> Int? {
        let responses = answer.object["responses"] as? [[String: Any]]
        guard let text = responses?.first?["data"] as? String, let data = Data(base64Encoded: text),
            let list = try? JSONSerialization.jsonObject(with: data) as? [[String: Any]]
        else { return nil }
        return list.first?["status"] as? Int
    }

    /// The problem of an answer that no fault explains; `nil` for one that a fault explains, and for no answer.
    private static func problem(of answer: SocketClient.Answer?) -> String? {
        guard let answer else { return nil }
        switch (answer.status, answer.errorCode) {
        // The link or the device is away, too many requests wait, or the same request is still running.
        case (503, _), (504, _), (429, _), (409, 21000), (502, 20103): return nil
        default: return answer.text
        }
    }
}
