import GatewayAPI
import IoTCore
import IoTLink

/// The hub's administration, messages and events in one account's name, in the API's types.
///
/// Each call throws the hub's refusal, 21002 when no answer came in time, and 21004 for an answer that makes no sense.
struct HubClient: Sendable {
    static let timeout = Duration.seconds(10)
    /// Pages of a long list that are read at most.
    private static let maximumPages = 64

    let link: AccountLink

    init(link: any HubLink, account: Principal?) {
        self.link = AccountLink(link: link, account: account)
    }

    func ask(
        _ method: LinkMethod<JSONValue, JSONValue>, _ params: [String: JSONValue?] = [:], timeout: Duration = timeout,
        id: String? = nil
    ) async throws(IoTError) -> JSONValue {
        try await link.request(method, .object(params.compactMapValues { $0 }), timeout: timeout, id: id)
    }

    /// Reads a result as one of the API's types, whose members have the link's names.
    func ask<Value: Decodable>(
        _ type: Value.Type, _ method: LinkMethod<JSONValue, JSONValue>, _ params: [String: JSONValue?] = [:],
        timeout: Duration = timeout,
        id: String? = nil
    ) async throws(IoTError) -> Value {
        try Self.read(type, try await ask(method, params, timeout: timeout, id: id))
    }

    static func read<Value: Decodable>(_ type: Value.Type, _ result: JSONValue) throws(IoTError) -> Value {
        try APICoding.decode(type, from: result.jsonText.utf8, failure: .modelReceiveFailed)
    }

    /// The wanted part of a list that the hub gives in pages: `key` names it, `name` the member that a page goes on
    /// after.
    func page<Element: Decodable>(
        _ type: Element.Type, _ method: LinkMethod<JSONValue, JSONValue>, _ wanted: PageRequest, key: String,
        name: String
    ) async throws(IoTError) -> Page<Element> {
        let page = try await page(method, [:], wanted, key: key, name: name)
        var elements: [Element] = []
        for element in page.elements { elements.append(try Self.read(type, element)) }
        return Page(elements, next: page.next)
    }

    func page(
        _ method: LinkMethod<JSONValue, JSONValue>, _ params: [String: JSONValue?] = [:],
        _ wanted: PageRequest = .all, key: String,
        name: String
    ) async throws(IoTError) -> Page<JSONValue> {
        var elements: [JSONValue] = []
        var params = params
        params["after"] = .text(wanted.after)
        params["limit"] = wanted.limit.map { .integer(Int64($0)) }
        for _ in 0..<Self.maximumPages {
            let result = try await ask(method, params)
            guard let page = result[key]?.arrayValue else {
                throw IoTError(.modelReceiveFailed, "\(method.name): the hub's answer has no list")
            }
            elements += page
            guard result["more"]?.boolValue == true, let last = page.last?[name] else { break }
            if wanted.limit != nil { return Page(elements, next: last.stringValue) }
            params["after"] = last
        }
        return Page(elements)
    }
}

extension JSONValue {
    static func list(_ texts: [String]?) -> JSONValue? {
        texts.map { .array($0.map { .string($0) }) }
    }

    static func list(_ actions: [DeviceAction]?) -> JSONValue? {
        list(actions?.map(\.rawValue))
    }

    static func text(_ text: String?) -> JSONValue? {
        text.map { .string($0) }
    }

    static func number(_ number: Int64?) -> JSONValue? {
        number.map { .integer($0) }
    }
}
