import { alertNames } from '../operate/slo/rules.ts'
import { commented, yamlText } from './slo-rule-files.ts'

/** The parts of an Alertmanager configuration that make one call of several windows of one objective. */
export function alertmanagerRouting(): string {
  return (
    commented([
      'To be put into alertmanager.yml: the receivers are yours.',
      'One notification for each objective and severity, and no ticket while its page is out.',
    ]) +
    yamlText({
      route: {
        receiver: 'nobody',
        routes: [
          {
            matchers: [`alertname=~"${Object.values(alertNames).join('|')}"`, 'severity="page"'],
            receiver: 'pager',
            group_by: ['service', 'objective', 'severity'],
            group_wait: '30s',
            repeat_interval: '4h',
          },
          {
            matchers: ['alertname=~"Slo.+"', 'severity="ticket"'],
            receiver: 'tickets',
            group_by: ['service', 'objective', 'severity'],
            group_wait: '5m',
            repeat_interval: '3d',
          },
        ],
      },
      inhibit_rules: [
        {
          source_matchers: ['alertname="SloBurnPage"'],
          target_matchers: ['alertname="SloBurnTicket"'],
          equal: ['service', 'objective'],
        },
      ],
      receivers: [{ name: 'nobody' }, { name: 'pager' }, { name: 'tickets' }],
    })
  )
}
