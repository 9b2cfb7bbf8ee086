/// The names under which a device takes requests, each with a POST.
enum ProvisioningEndpoint: String, CaseIterable {
    /// The version and capabilities, in clear.
    case version = "proto-ver"
    case session = "prov-session"
    case scan = "prov-scan"
    case config = "prov-config"
    /// Our own: the hub and the token (Protobuf/iotlink_bind.proto).
    case bind = "iotlink-bind"
}
