/// `POST /v1/cameras/{name}/call`: answers the live call that rings at a camera.
public struct CallAnswer: APIRequestBody, Hashable {
    public enum Answer: String, Codable, Sendable, CaseIterable {
        case accept
        case refuse

        /// The action of a device that gives this answer from anywhere.
        public var action: String {
            switch self {
            case .accept: "Action.acceptCall"
            case .refuse: "Action.refuseCall"
            }
        }
    }

    public static let members = ["answer", "call"]

    public var answer: Answer
    /// The call's id; without it, the call that rings.
    public var call: String?

    public init(_ answer: Answer, call: String? = nil) {
        self.answer = answer
        self.call = call
    }
}
