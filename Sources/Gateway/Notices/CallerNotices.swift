import GatewayAPI
import IoTCore
import ThingModel

struct CallerNotices: GatewayNotices {
    let session: CallerSession

    func show() async throws -> NoticeDescription {
        guard let description = await center?.description(of: session.caller.account) else {
            throw IoTError(
                .notFound, "this account has no webhook", remedy: "set one with `iotctl notice set URL`")
        }
        return description
    }

    func set(_ request: NoticeRequest) async throws -> NoticeDescription {
        // Everybody can make such accounts, and the gateway does not learn when they end.
        guard !session.caller.account.rawValue.hasPrefix("temporary-") else {
            throw IoTError(.operationNotAllowed, "a temporary account cannot have a webhook")
        }
        guard let center else { throw IoTError(.notImplemented) }
        try await center.set(
            NoticeReceiver(
                account: session.caller.account, url: request.url, allowsPrivate: session.caller.isAdministrator))
        return try await show()
    }

    func remove() async throws {
        try await center?.remove(session.caller.account)
    }

    private var center: NoticeCenter? { session.gateway.notices }
}

extension LocalGateway {
    /// The device's name, if the account may view the device and has not switched its notices off.
    func nameForNotice(_ account: AccessID, _ device: String) async -> String? {
        guard await rights.mayView(device, account) else { return nil }
        let model = ThingModelClient(link: HubClient(link: link, account: principal(of: account)).link)
        guard let details = try? await model.show(device), Self.wantsNotices(details.model) else { return nil }
        return details.summary.name
    }

    /// `almEvtPushEna` of the device's users: 0, as in a new model, switches notices off.
    static func wantsNotices(_ model: JSONValue) -> Bool {
        let value = model["ProUser"]?["_buildIn"]?["val"]?["almEvtPushEna"]
        return (value?.integerValue ?? 0) != 0
    }
}
