package import IoTCore

/// Where a camera's ONVIF service is, with whom it talks, and which certificates are accepted from it.
package struct ONVIFService: Sendable {
    /// Of the device service, `http://HOST/onvif/device_service`, or `https`.
    package var device: ServiceURL
    package var login: ONVIFLogin?
    package var trust: CameraTrust

    package init(_ device: ServiceURL, login: ONVIFLogin?, trust: CameraTrust = .none) {
        self.device = device
        self.login = login
        self.trust = trust
    }
}
