import IoTCore
import IoTLink

/// The configuration of mosquitto's dynamic-security plugin: its file at the start, its commands at run time.
///
/// Each principal has one static role with literal topics, because the plugin does not replace `%u` in an ACL. The
/// plugin disconnects a client if its role changes, but not if another client is added or deleted.
enum DynamicSecurity {
    static let controlTopic = "$CONTROL/dynamic-security/v1"
    static let responseTopic = "$CONTROL/dynamic-security/v1/response"

    /// The user name of the hub's own client. No token id looks like it.
    static let hubUserName = "hub"
    private static let hubRole = "hub"

    /// The whole file. It replaces the file of an earlier broker.
    static func file(hub: BrokerCredential, credentials: [BrokerCredential]) -> JSONValue {
        var roles: [String: JSONValue] = [:]
        for credential in credentials where roles[credential.role] == nil {
            roles[credential.role] = role(of: credential.principal)
        }
        let clients = [client(hub, role: hubRole)] + credentials.map { client($0, role: $0.role) }
        return [
            "defaultACLAccess": [
                "publishClientSend": false, "publishClientReceive": false, "subscribe": false, "unsubscribe": true,
            ],
            "clients": .array(clients),
            "groups": [],
            "roles": .array([hubRoleDefinition] + roles.sorted { $0.key < $1.key }.map(\.value)),
        ]
    }

    /// Adds one credential, and its role if this is the principal's first. An existing role is not changed.
    static func addCommands(_ credential: BrokerCredential, token: String) -> [JSONValue] {
        var createRole = role(of: credential.principal)
        createRole["command"] = "createRole"
        let createClient: JSONValue = [
            "command": "createClient",
            "username": .string(credential.tokenID),
            "password": .string(token),
            "roles": [["rolename": .string(credential.role)]],
        ]
        return [createRole, createClient]
    }

    /// Deletes one credential, which ends only its own sessions. An enrolment's role belongs to it alone, so it is
    /// deleted too.
    static func removeCommands(tokenID: String) -> [JSONValue] {
        let deleteClient: JSONValue = ["command": "deleteClient", "username": .string(tokenID)]
        guard let enrolment = Principal(kind: .enrolment, id: tokenID), tokenID.hasPrefix(EnrolmentRecord.prefix) else {
            return [deleteClient]
        }
        return [
            deleteClient,
            ["command": "deleteRole", "rolename": .string(BrokerCredential.role(of: enrolment))],
        ]
    }

    private static func client(_ credential: BrokerCredential, role: String) -> JSONValue {
        [
            "username": .string(credential.tokenID),
            "roles": [["rolename": .string(role)]],
            "password": .string(credential.hash),
            "salt": .string(credential.salt),
            "iterations": 1,
        ]
    }

    /// A principal publishes to its own up topics and reads its own down topics; `+` matches its session.
    private static func role(of principal: Principal) -> JSONValue {
        let own = "\(principal.kind.rawValue)/\(principal.id)/+"
        return [
            "rolename": .string(BrokerCredential.role(of: principal)),
            "acls": [
                allow("publishClientSend", "iotlink/1/up/\(own)"),
                allow("subscribePattern", "iotlink/1/down/\(own)"),
                allow("publishClientReceive", "iotlink/1/down/\(own)"),
            ],
        ]
    }

    private static let hubRoleDefinition: JSONValue = [
        "rolename": .string(hubRole),
        "acls": [
            allow("publishClientSend", "iotlink/1/down/#"),
            allow("subscribePattern", "iotlink/1/up/#"),
            allow("publishClientReceive", "iotlink/1/up/#"),
            allow("publishClientSend", controlTopic),
            allow("subscribeLiteral", responseTopic),
            allow("publishClientReceive", responseTopic),
        ],
    ]

    private static func allow(_ type: String, _ topic: String) -> JSONValue {
        ["acltype": .string(type), "topic": .string(topic), "priority": 0, "allow": true]
    }
}
