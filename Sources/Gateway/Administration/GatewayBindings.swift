package import GatewayAPI
package import IoTCore

/// The bindings of devices: which accounts may do what with them.
package protocol GatewayBindings: Sendable {
    func list(of device: String, _ page: PageRequest) async throws -> Page<BindingDescription>
    func share(_ device: String, _ request: ShareRequest, requestID: String?) async throws -> ShareResponse
    func subscribe(_ request: SubscriptionRequest, requestID: String?) async throws -> BindingResponse
    func bind(
        _ device: String, _ user: AccessID, _ request: BindingRequest, requestID: String?
    ) async throws -> BindingResponse
    func unbind(_ device: String, _ user: AccessID, requestID: String?) async throws
}
