import IoTCore
import Logging
import ServiceLifecycle

/// Runs the provisioning mode of a box, and then its roles, if the box has a hub.
struct ProvisionedRoles: Service {
    let roles: Roles

    func run() async throws {
        let provisioning = BoxProvisioning(
            configuration: roles.configuration, joined: roles.joined, loops: roles.loops,
            logger: Logger(label: "provisioning"))
        // A graceful shutdown must not wait for the end of the mode.
        let end = await cancelWhenGracefulShutdown { await Result { try await provisioning.run() } }
        if Task.isShuttingDownGracefully { return }
        try end.get()
        var roles = roles
        roles.joined = try roles.configuration.joinedBox()
        guard roles.joined != nil else {
            roles.logger.notice("this box still has no hub; restart it to start the provisioning mode again")
            return
        }
        try await roles.run()
    }
}
