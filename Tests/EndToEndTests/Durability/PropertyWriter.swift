import Foundation
import TestSupport

/// Writes one property, number after number, until a request gets no answer.
struct PropertyWriter: Sendable {
    let property: String
    private(set) var sent = 0
    private(set) var acknowledged = 0
    /// The number of writes that were running at a kill, and how many of them were carried out.
    private(set) var cutOff = 0
    private(set) var carriedOut = 0
    private(set) var problems: [String] = []
    private var shadow = ShadowProperty<Int>()

    init(property: String) {
        self.property = property
    }

    private var path: String { "/v1/devices/front/properties?path=ProUser.\(property).val" }

    mutating func prepare(_ client: SocketClient) async {
        let answer = await client.request("POST", "/v1/devices/front/user-properties/\(property)", body: "-1")
        if answer?.status != 200 { problems.append("\(property) was not made: \(answer?.text ?? "no answer")") }
    }

    /// - Parameter onAcknowledged: Called for each acknowledged write.
    mutating func run(_ client: SocketClient, onAcknowledged: () -> Void) async {
        while problems.isEmpty {
            let number = sent + 1
            switch await client.exchange("PUT", path, body: "\(number)", key: "\(property)-\(number)") {
            case .notSent:
                return
            case .cutOff:
                sent += 1
                cutOff += 1
                return shadow.gaveUp(number)
            case .answered(let answer):
                sent += 1
                guard answer.status == 200, let version = answer.object["version"] as? Int else {
                    return problems.append("\(property): write \(number) was refused: \(answer.text)")
                }
                acknowledged += 1
                if let wrong = shadow.acknowledge(number, version: version) { problems.append("\(property): \(wrong)") }
                onAcknowledged()
            }
        }
    }

    /// Checks that the value is the last acknowledged one, or the next one if a kill cut off its answer.
    mutating func check(_ client: SocketClient) async {
        guard let answer = await client.request("GET", path), answer.status == 200 else {
            return problems.append("\(property) cannot be read")
        }
        let number = answer.object["value"] as? Int
        if let number, shadow.unanswered.contains(number) { carriedOut += 1 }
        if let wrong = shadow.judge(number, version: answer.object["version"] as? Int) {
            problems.append("\(property): \(wrong)")
        }
    }
}
