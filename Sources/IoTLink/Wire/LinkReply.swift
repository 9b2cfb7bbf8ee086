public import IoTCore

/// An answer: `{"id","code","message","remedy"?,"result","seq"?,"final"}`.
public struct LinkReply: Sendable, Equatable {
    /// The id of the request it answers.
    public var id: String
    /// `.success` (0), or the error code.
    public var code: ErrorCode
    public var message: String
    /// The remedy of a failure, when it is not the catalogue's.
    public var remedy: String?
    public var result: JSONValue
    /// The index of one of several answers, from 0; `nil` when there is only one answer.
    public var seq: Int?
    /// Whether this is the last answer to the request.
    public var final: Bool

    public init(
        id: String, code: ErrorCode = .success, message: String = "", remedy: String? = nil,
        result: JSONValue = .null, seq: Int? = nil, final: Bool = true
    ) {
        self.id = id
        self.code = code
        self.message = message
        self.remedy = remedy
        self.result = result
        self.seq = seq
        self.final = final
    }

    /// An answer with an error. The result is taken from a `LinkRefusal` that underlies the error.
    public init(id: String, error: IoTError) {
        self.init(
            id: id, code: error.code, message: error.message, remedy: error.specificRemedy,
            result: (error.underlying as? LinkRefusal)?.result ?? .null)
    }

    public init(id: String, outcome: Result<JSONValue, IoTError>) {
        switch outcome {
        case .success(let result): self.init(id: id, result: result)
        case .failure(let error): self.init(id: id, error: error)
        }
    }

    /// The result, or the error. When an error reply carries a result, a `LinkRefusal` with it underlies the error.
    public var outcome: Result<JSONValue, IoTError> {
        guard code != .success else { return .success(result) }
        return .failure(
            IoTError(
                code, message.isEmpty ? nil : message, remedy: remedy,
                underlying: result == .null ? nil : LinkRefusal(result: result)))
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(id), "code": .integer(Int64(code.rawValue)), "message": .string(message), "result": result,
            "final": .bool(final),
        ]
        if let remedy { members["remedy"] = .string(remedy) }
        if let seq { members["seq"] = .integer(Int64(seq)) }
        return .object(members)
    }
}

/// The result that accompanies an error code. For example, a conditional write that lost the race gets the current
/// value and version. It is passed as the `underlying` of an `IoTError`, from the handler to the caller.
public struct LinkRefusal: Error, Sendable, Equatable {
    /// The other side went offline after it had got the request, so it may have carried it out.
    package static let afterDelivery = LinkRefusal(result: ["delivered": true])

    public let result: JSONValue

    public init(result: JSONValue) {
        self.result = result
    }
}

extension IoTError {
    /// Whether a request that failed may have been carried out.
    package var isAfterDelivery: Bool { underlying as? LinkRefusal == .afterDelivery }
}
