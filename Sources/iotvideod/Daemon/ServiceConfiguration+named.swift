import ServiceLifecycle

extension ServiceGroupConfiguration.ServiceConfiguration {
    /// A service with the name of its type. Without a name it would get its description, which is that of everything that
    /// it refers to, the configuration included, and takes a tenth of the daemon's start.
    init(named service: any Service, onEnd behavior: TerminationBehavior = .cancelGroup) {
        self.init(
            service: service, successTerminationBehavior: behavior, failureTerminationBehavior: behavior,
            serviceName: "\(type(of: service))")
    }
}
