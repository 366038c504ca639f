/** The accounts of the demo data: the four demo accounts, and others. */
import { DEMO_ACCOUNTS } from './accounts.ts';
import { createRandom } from './random.ts';
import { DAY, at, later } from './timeline.ts';

/** Describes a row of the table of users. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly bio: string | null;
  readonly age: number | null;
  readonly role: 'USER' | 'MODERATOR' | 'ADMIN';
  readonly plan: 'free' | 'pro' | 'enterprise';
  readonly requestsPerMinute: number | null;
  readonly isActive: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

const NAMES = [
  'Amara Nwosu',
  'Anaïs Lefèvre',
  'Anders Bjørnstad',
  'Aroha Ngata',
  'Bente Sørensen',
  'Björn Þórsson',
  'Catarina Figueiredo',
  'Chidi Eze',
  'Daria Kowalczyk',
  'Dimitra Papadaki',
  'Elif Yıldız',
  'Emeka Obi',
  'Esperanza Quispe',
  'Farida Rahimi',
  'Fionn Gallagher',
  'Giulia Ferraro',
  'Hana Novotná',
  'Haruto Nakamura',
  'Ingrid Solheim',
  'Ioana Dumitrescu',
  'Isabel Moreno',
  'Jamal Haddad',
  'Jiwoo Park',
  'Joost van Dijk',
  'Kalani Kealoha',
  'Kavita Deshpande',
  'Kwame Mensah',
  'Lars Eriksson',
  'Leilani Tavake',
  'Lucía Fernández',
  'Mahmoud El-Sayed',
  'Marek Dvořák',
  'Mei-Ling Chen',
  'Miriam Goldberg',
  'Mateus Carvalho',
  'Nadia Benali',
  'Naveen Iyer',
  'Ngoc Tran',
  'Niamh O’Connell',
  'Oksana Shevchenko',
  'Olumide Adeyemi',
  'Paolo Rinaldi',
  'Petra Horvat',
  'Priya Raghavan',
  'Rafael Castillo',
  'Rania Khoury',
  'Ravi Shankar Menon',
  'Sakura Fujimoto',
  'Samuel Tesfaye',
  'Siobhán Byrne',
  'Sofía Villanueva',
  'Tariq Aziz',
  'Tereza Svobodová',
  'Thabo Dlamini',
  'Yusuf Demir',
  'Zanele Khumalo',
];

const TRADES = [
  'Structural engineer',
  'Carpenter',
  'Welder',
  'Surveyor',
  'Rigger',
  'Bridge inspector',
  'Model maker',
  'Retired railway engineer',
  'Civil engineering student',
  'Blacksmith',
  'Site foreman',
  'Concrete technologist',
  'Stonemason',
  'Landscape architect',
  'Boat builder',
  'Physics teacher',
];

const PASSIONS = [
  'collects photographs of viaducts',
  'walks across every bridge there is to find',
  'repairs old planes and chisels',
  'builds trusses from spaghetti with schoolchildren',
  'keeps a notebook of interesting bolts',
  'would rather be on the scaffold',
  'draws with a pencil first',
  'runs the Thursday workshop',
  'restores a narrow-gauge trestle with friends',
  'believes in good drainage',
  'measures twice',
  'reads inspection reports for fun',
  'plants willows along river banks',
  'teaches knots to anyone who asks',
  'cycles to site in any weather',
  'makes tea for the whole crew',
];

/** Returns all accounts: the demo accounts, then the others from the oldest to the newest. */
export function createPeople(): Person[] {
  const random = createRandom('people');
  const demoAccounts = DEMO_ACCOUNTS.map(({ id, email, name, bio, role, plan, requestsPerMinute, createdAt }, index) => {
    const updatedAt = later(createdAt, random.integer(1, 90) * DAY);
    const limits = { plan, requestsPerMinute };
    return { id, email, name, bio, age: 29 + index * 6, role, ...limits, isActive: true, createdAt, updatedAt, version: 2 };
  });
  const others = random.sample(NAMES, NAMES.length).map((name, index): Person => {
    const createdAt = later(at((0.9 * (index + 1)) / NAMES.length), -random.integer(0, 5 * DAY));
    const changes = random.integer(0, 3);
    return {
      id: random.id('usr', createdAt),
      email: toEmail(name),
      name,
      bio: random.chance(0.85) ? `${random.pick(TRADES)} who ${random.pick(PASSIONS)}.` : null,
      age: random.chance(0.9) ? random.integer(19, 76) : null,
      role: index % 25 === 24 ? 'MODERATOR' : 'USER',
      plan: random.pick(['free', 'free', 'free', 'pro', 'pro', 'enterprise']),
      requestsPerMinute: null,
      isActive: !random.chance(0.08),
      createdAt,
      updatedAt: changes === 0 ? createdAt : later(createdAt, random.integer(1, 60) * DAY),
      version: 1 + changes,
    };
  });
  return [...demoAccounts, ...byTime(others)];
}

function byTime(people: readonly Person[]): Person[] {
  return people.toSorted((one, other) => one.createdAt.getTime() - other.createdAt.getTime());
}

/** Converts a name to an e-mail address: `Siobhán Byrne` → `siobhan.byrne@example.com`. */
function toEmail(name: string): string {
  const ascii = name
    .toLowerCase()
    .replaceAll('ø', 'o')
    .replaceAll('þ', 'th')
    .replaceAll('ı', 'i')
    .normalize('NFD')
    .replaceAll(/[^a-z\s-]/g, '');
  return `${ascii.trim().replaceAll(/\s+/g, '.')}@example.com`;
}
