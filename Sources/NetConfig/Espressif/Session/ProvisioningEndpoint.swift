/// The endpoints to which a client sends POST requests.
enum ProvisioningEndpoint: String, CaseIterable {
    /// The version and capabilities, unencrypted.
    case version = "proto-ver"
    case session = "prov-session"
    case scan = "prov-scan"
    case config = "prov-config"
    /// Our own endpoint: the hub and the token (Protobuf/iotlink_bind.proto).
    case bind = "iotlink-bind"
}
